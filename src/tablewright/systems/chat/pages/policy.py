"""What is published: the notice to parents, how long data is kept, what happens when a child needs help.

These pages are open to everyone, without signing in (ZC-24, ZC-X24, ZC-X25).
"""

from fastapi import APIRouter, Request, Response

from tablewright.systems.chat.pages.page import ChatPages

SCOPE_TITLES = {
    "collect_and_use": "Store and reply",
    "disclosure": "Send to a language model outside",
    "profiling": "Remember interests",
}


def add_policy(router: APIRouter, pages: ChatPages) -> None:
    notices = pages.chat.notices

    @router.get("/policy/notice")
    def notice(request: Request) -> Response:
        return pages.page(
            request, "notice", title="Notice to parents", notice=notices.notice(), titles=SCOPE_TITLES
        )

    @router.get("/policy/retention")
    def retention(request: Request) -> Response:
        return pages.page(request, "retention", title="How long we keep data", policy=notices.retention())

    @router.get("/policy/safety")
    def safety(request: Request) -> Response:
        return pages.page(request, "safety", title="When a child needs help", protocol=notices.crisis())
