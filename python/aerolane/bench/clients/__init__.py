"""The clients that can be measured: how each is opened, and its calls as they stand in the hot loop."""
