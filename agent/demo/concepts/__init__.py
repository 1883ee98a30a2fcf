"""What newcomers ask about: kinds of component, and the words of the field."""
