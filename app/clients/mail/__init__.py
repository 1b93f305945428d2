"""Mail: written in the language of its reader, and given to a mail server or to the console."""
