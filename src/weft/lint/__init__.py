"""From configuration files to what is wrong in them: readers, facts, rules; offline."""
