"""The checklist before production: items that are measured, and fail where they are not."""
