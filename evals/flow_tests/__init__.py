"""Tests of a flow that lie beside it: inputs with what they must give, for its author and for CI."""
