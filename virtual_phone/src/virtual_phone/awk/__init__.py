"""The phone's `awk`: one-true-awk, as Android ships it since release 9."""
