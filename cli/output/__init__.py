"""What commands print: streams, faults and turns."""
