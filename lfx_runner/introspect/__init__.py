"""What components are: fields, outputs, options and requirements, exported as the catalogue."""
