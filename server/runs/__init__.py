"""Runs that go on: started, followed by any number of clients, and cancelled."""
