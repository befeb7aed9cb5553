"use strict";
document.querySelectorAll("button[data-copy]").forEach((button) => {
  button.addEventListener("click", async () => {
    const text = document.getElementById(button.dataset.copy).textContent;
    const before = button.textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // Pages opened from a file may not reach the clipboard; a selection always works.
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    button.textContent = "copied";
    setTimeout(() => { button.textContent = before; }, 1500);
  });
});
