"""All tools over MCP, and what the tools of Langflow's two MCP servers are called here."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from server.mcp.tools.batch import Step, batch_tool
from server.mcp.tools.edits import edit_tools
from server.mcp.tools.flows import flow_tools
from server.mcp.tools.jobs import job_tools
from server.mcp.tools.lookups import lookup_tools
from server.mcp.tools.reading import reading_tools
from server.mcp.tools.tool import Tool
from server.mcp.tools.versions import version_tools
from server.mcp.tools.workspace import workspace_tools

LANGFLOWS: Final[Mapping[str, Mapping[str, str]]] = {
    "canvas": {
        "login": "",
        "create_flow": "create_flow",
        "create_flow_from_spec": "create_flow_from_spec",
        "list_flows": "list_flows",
        "add_component": "add_component",
        "connect_components": "connect_components",
        "run_flow": "run_flow",
        "build_flow": "validate_flow",
        "validate_flow": "validate_flow",
        "batch": "batch",
    },
    "system": {
        "search_templates": "search_templates",
        "create_flow_from_template": "create_flow_from_template",
        "search_components": "search_components",
        "get_component": "get_component",
        "list_component_types": "list_component_types",
        "count_components": "count_components",
        "visualize_flow_graph": "visualize_flow_graph",
        "get_flow_ascii_diagram": "get_flow_ascii_diagram",
        "get_flow_text_representation": "get_flow_text_representation",
        "get_flow_structure_summary": "get_flow_structure_summary",
        "get_flow_component_details": "get_flow_component_details",
        "get_flow_component_field_value": "get_flow_component_field_value",
        "update_flow_component_field": "update_flow_component_field",
        "list_flow_component_fields": "list_flow_component_fields",
    },
    "toolkit": {
        "SearchComponentTypes": "search_components",
        "DescribeComponentType": "get_component",
        "GetFieldValue": "get_flow_component_field_value",
        "ProposeFieldEdit": "configure_component",
        "AddComponent": "add_component",
        "RemoveComponent": "remove_component",
        "ConnectComponents": "connect_components",
        "ConfigureComponent": "configure_component",
        "BuildFlowFromSpec": "create_flow_from_spec",
        "ProposePlan": "",
        "GenerateComponent": "generate_component",
        "DescribeFlowIO": "get_flow_structure_summary",
        "RunFlow": "run_flow",
    },
}
"""The tools here by those of Langflow's servers; empty for one that has none: the token replaces `login`, and a client
plans with its own user. The toolkit is that of its assistant, which no client reaches there."""


@cache
def single_tools() -> Mapping[str, Tool]:
    """Every tool but `batch`, by name."""
    every = [
        *flow_tools(),
        *version_tools(),
        *edit_tools(),
        *reading_tools(),
        *lookup_tools(),
        *workspace_tools(),
        *job_tools(),
    ]
    return {tool.name: tool for tool in every}


def all_tools(step: Step) -> dict[str, Tool]:
    """Every tool by name.

    Args:
        step: calls one of them for a batch.
    """
    batch = batch_tool(step)
    return {**single_tools(), batch.name: batch}
