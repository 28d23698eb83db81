"""The application that `openenv.yaml` names, as the environment's variables say."""

from console.openenv.serving import app as make_app

app = make_app()
