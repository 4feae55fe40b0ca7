"""Doctor: plays matches with a bot on the wire, with traffic that is legal but unusual, and names
the faults of the bot.
"""
