"""The door of AI SDK clients: `useChat`, `Chat` and whatever else speaks the UI message stream."""
