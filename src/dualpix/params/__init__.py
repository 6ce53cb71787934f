"""Every parameter of the method: groups, rules, presets."""
