"""One file for each rule or claim of the practitioner articles, put to the test."""
