"""Exports as they are found in the wild, by hand: sticky notes, groups, bundles, old versions, keys of newer ones."""

from typing import Any

NOTES: dict[str, Any] = {
    "name": "Sticky",
    "icon": "📝",
    "is_component": False,
    "data": {
        "nodes": [
            {
                "id": "note-4kQ2s",
                "type": "noteNode",
                "position": {"x": -120.5, "y": 33},
                "width": 600,
                "height": 400,
                "resizing": False,
                "style": {"width": 600, "height": 400},
                "measured": {"width": 600, "height": 400},
                "dragging": False,
                "data": {
                    "id": "note-4kQ2s",
                    "type": "note",
                    "node": {
                        "description": "# Read me\n\n- nodes:\n- `A.x -> B.y`",
                        "display_name": "",
                        "documentation": "",
                        "template": {"backgroundColor": "amber"},
                    },
                },
            },
            {
                "id": "ChatInput-Mx8Pq",
                "type": "genericNode",
                "position": {"x": 0, "y": 0},
                "positionAbsolute": {"x": 0, "y": 0},
                "selected": True,
                "data": {
                    "id": "ChatInput-Mx8Pq",
                    "type": "ChatInput",
                    "description": "",
                    "edges": [],
                    "node": {
                        "lf_version": "1.1.1",
                        "pinned": False,
                        "template": {
                            "_type": "Component",
                            "code": {"type": "code", "value": "class ChatInput: ..."},
                            "input_value": {"type": "str", "value": "", "show": True, "input_types": []},
                            "files": {"type": "file", "value": "", "fileTypes": ["txt"], "file_path": ""},
                        },
                        "outputs": [{"name": "message", "types": ["Message"], "selected": "Message", "method": "m"}],
                    },
                },
            },
        ],
        "edges": [],
        "viewport": {"x": 1.25, "y": -2e-05, "zoom": 0.5},
    },
}
GROUP: dict[str, Any] = {
    "name": "Grouped",
    "data": {
        "nodes": [
            {
                "id": "GroupNode-a",
                "type": "genericNode",
                "position": {"x": 1, "y": 2},
                "data": {
                    "id": "GroupNode-a",
                    "type": "GroupNode",
                    "showNode": False,
                    "node": {
                        "display_name": "My group",
                        "template": {
                            "text_ChatInput-Mx8Pq": {
                                "type": "str",
                                "value": "",
                                "proxy": {"field": "text", "id": "ChatInput-Mx8Pq"},
                            }
                        },
                        "flow": NOTES,
                    },
                },
            }
        ],
        "edges": [],
    },
}
OLD: dict[str, Any] = {
    "name": "From 2023",
    "data": {
        "nodes": [
            {
                "width": 384,
                "id": "PromptTemplate-zmTlD",
                "type": "genericNode",
                "position": {"x": 50, "y": 60},
                "data": {
                    "type": "PromptTemplate",
                    "id": "PromptTemplate-zmTlD",
                    "value": None,
                    "node": {
                        "base_classes": ["BasePromptTemplate", "PromptTemplate"],
                        "template": {
                            "_type": "prompt",
                            "template": {"type": "prompt", "value": "Say {x}", "required": True},
                            "documents": {"type": "Document", "list": True, "value": [], "input_types": None},
                        },
                    },
                },
            },
            {"id": "TextLoader-1", "data": {"type": "TextLoader", "id": "TextLoader-1", "node": {"template": {}}}},
        ],
        "edges": [
            {
                "id": "reactflow__edge-TextLoader-1-PromptTemplate-zmTlD",
                "className": "stroke-gray-900",
                "animated": False,
                "style": {"stroke": "#555"},
                "source": "TextLoader-1",
                "target": "PromptTemplate-zmTlD",
                "sourceHandle": "TextLoader|TextLoader-1|Document",
                "targetHandle": "Document;BaseOutputParser|documents|PromptTemplate-zmTlD",
            }
        ],
        "viewport": None,
    },
}
BUNDLE: dict[str, Any] = {
    "id": "7b1c6f0e-2f7d-4a4e-9b69-0d8b5c3a9f11",
    "name": "Bundles",
    "last_tested_version": "1.13.0",
    "endpoint_name": None,
    "tags": ["chatbots"],
    "locked": True,
    "data": {
        "nodes": [
            {
                "id": "AstraDB-9aXc1",
                "type": "genericNode",
                "position": {"x": 10, "y": 10},
                "data": {
                    "id": "AstraDB-9aXc1",
                    "type": "AstraDB",
                    "selected_output": "dataframe",
                    "node": {
                        "template": {
                            "_type": "Component",
                            "token": {"type": "str", "password": True, "load_from_db": True, "value": "ASTRA_TOKEN"},
                            "search_query": {"type": "query", "input_types": ["Message"], "value": ""},
                            "database_name": {"type": "str", "dialog_inputs": {"fields": {"data": {"node": {}}}}},
                        },
                        "outputs": [{"name": "dataframe", "types": ["DataFrame"], "loop_types": None}],
                        "tool_mode": False,
                    },
                },
            },
            {
                "id": "ChatOutput-b",
                "type": "genericNode",
                "position": {"x": 500, "y": 10},
                "data": {
                    "id": "ChatOutput-b",
                    "type": "ChatOutput",
                    "node": {
                        "template": {"input_value": {"type": "other", "input_types": ["DataFrame", "Message"]}},
                        "outputs": [],
                    },
                },
            },
        ],
        "edges": [
            {
                "id": "xy-edge__AstraDB-9aXc1-ChatOutput-b",
                "source": "AstraDB-9aXc1",
                "target": "ChatOutput-b",
                "sourceHandle": (
                    "{œdataTypeœ: œAstraDBœ, œidœ: œAstraDB-9aXc1œ, œnameœ: œdataframeœ, œoutput_typesœ: [œDataFrameœ]}"
                ),
                "targetHandle": (
                    "{œfieldNameœ: œinput_valueœ, œidœ: œChatOutput-bœ, œinputTypesœ: [œDataFrameœ], œtypeœ: œotherœ}"
                ),
                "data": {
                    "sourceHandle": {
                        "dataType": "AstraDB",
                        "id": "AstraDB-9aXc1",
                        "name": "dataframe",
                        "output_types": ["DataFrame"],
                    },
                    "targetHandle": {
                        "fieldName": "input_value",
                        "id": "ChatOutput-b",
                        "inputTypes": ["DataFrame"],
                        "type": "other",
                    },
                },
                "selected": False,
            }
        ],
        "viewport": {"x": 0, "y": 0, "zoom": 1},
        "controls": {"newer": True},
    },
}
EXPORTS: dict[str, dict[str, Any]] = {"notes": NOTES, "group": GROUP, "old": OLD, "bundle": BUNDLE}
