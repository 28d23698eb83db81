"""Android phones as an OpenEnv environment, served by Switchboard."""
