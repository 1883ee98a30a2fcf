"""Building a flow from a message: recipes, their pieces of a flow, and routers."""
