"""What the API takes and gives, a module for each noun. Input is strict: a number is a JSON number."""
