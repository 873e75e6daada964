"""What the API takes and gives, as models: inputs with only what a caller may set, outputs with what was computed."""
