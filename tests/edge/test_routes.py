"""Routes of many files in one app: below their path, told under their tag, and made no more often than they must be."""

from fastapi import APIRouter
from fastapi.routing import APIRoute
from tests.edge.talk import app_of, calling

from tablewright.edge.routes import MountedRouter, gather


def test_a_route_is_made_where_it_is_written_and_once_for_its_app_however_deep_it_was() -> None:
    made: list[str] = []

    def noted(route: APIRoute) -> str:
        made.append(route.path_format)
        return route.name

    part = APIRouter(generate_unique_id_function=noted)
    part.add_api_route("/pets", lambda: ["rex"])
    inner, outer = APIRouter(), APIRouter()
    gather(inner, [part])
    gather(outer, [inner])
    with calling(app_of(MountedRouter("/v1", outer, ("Pets",)))) as client:
        assert client.get("/v1/pets").json() == ["rex"]
        assert client.get("/pets").status_code == 404
        described = client.get("/openapi.json").json()["paths"]
    assert described["/v1/pets"]["get"]["tags"] == ["Pets"]
    assert made == ["/pets", "/v1/pets"]
