"""Safety: can it do harm?"""
