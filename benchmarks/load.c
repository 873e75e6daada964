// load: drives one HTTP server as hard as a fixed number of connections can, and says how it did.
//
//   load PORT CONNECTIONS WARM_UP_SECONDS SECONDS REQUESTS FIRST_SERIAL TEMPLATE_FILE
//
// Each connection is a closed loop on keep-alive: it sends a request, waits for the whole answer, sends the next one.
// Answers that end between warm-up and end are counted; REQUESTS > 0 stops after that many instead of by the clock.
// What must hold: every request differs from the one before (stores skip writes that change nothing), and the
// generator does nothing per request but fill numbers into a text built beforehand, so that the server is the limit.
//
// TEMPLATE_FILE, little endian: u32 slots, u32 stride, u32 bytes, then the slots, then the bytes of one HTTP request.
// Request n has serial = FIRST_SERIAL + n * stride; a slot is a run of digits in the text that becomes
//   ((serial + delta) / divide * multiply) % modulo
// zero-padded to its width. One JSON object on stdout; a sentence on stderr and code 2 when the server is unusable.
// Elsewhere: what the requests say (workloads.py), who is measured when (speed.py).

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000ull
#define DRAIN (90 * SECOND)  // after the end: how long the slowest answer may still take

// ---- time and the histogram of latencies: 64 steps per power of two, so within 1.6 % ----

enum { STEP_BITS = 6, STEPS = 1 << STEP_BITS, BUCKETS = 64 * STEPS };
static uint64_t counts[BUCKETS], counted, slowest;

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

static void count(uint64_t ns) {
    unsigned top = ns < STEPS ? 0 : 63 - (unsigned)__builtin_clzll(ns) - STEP_BITS;
    counts[top * STEPS + (ns >> top)]++;  // ns >> top lies between STEPS and 2 * STEPS: each band begins where one ends
    counted++;
    if (ns > slowest) slowest = ns;
}

static double quantile_us(double share) {
    uint64_t wanted = (uint64_t)(share * (double)counted), seen = 0;
    for (unsigned i = 0; i < BUCKETS; i++) {
        seen += counts[i];
        if (seen > wanted) {
            unsigned top = i < 2 * STEPS ? 0 : i / STEPS - 1;
            return (double)((uint64_t)(i - top * STEPS) << top) / 1000.0;
        }
    }
    return (double)slowest / 1000.0;
}

// ---- the template ----

typedef struct {
    uint64_t delta, divide, multiply, modulo;
    uint32_t offset, width;
} Slot;

static Slot *slots;
static uint32_t slot_count, stride, request_length;
static char *request_text;
static uint64_t next_serial;

static void refuse(const char *what) {
    fprintf(stderr, "load: %s%s%s\n", what, errno ? ": " : "", errno ? strerror(errno) : "");
    exit(2);
}

static void read_template(const char *path) {
    uint32_t head[3];
    FILE *file = fopen(path, "rb");
    if (!file || fread(head, sizeof head, 1, file) != 1) refuse("cannot read the template");
    slot_count = head[0], stride = head[1], request_length = head[2];
    slots = calloc(slot_count + 1, sizeof *slots);
    request_text = malloc(request_length);
    if (fread(slots, sizeof *slots, slot_count, file) != slot_count) refuse("the template ends in its slots");
    if (fread(request_text, 1, request_length, file) != request_length) refuse("the template ends in its text");
    fclose(file);
}

static void fill(char *text) {
    memcpy(text, request_text, request_length);
    for (const Slot *slot = slots; slot < slots + slot_count; slot++) {
        uint64_t value = (next_serial + slot->delta) / slot->divide % slot->modulo;
        value = value * (slot->multiply % slot->modulo) % slot->modulo;
        for (char *digit = text + slot->offset + slot->width; digit-- > text + slot->offset; value /= 10)
            *digit = (char)('0' + value % 10);
    }
    next_serial += stride;
}

// ---- connections ----

typedef struct {
    int socket;
    uint64_t started;
    char *out, *in;
    uint32_t sent;
    size_t have, room, expected;  // expected: length of the whole answer once its head is here, else 0
    int status, closes;
} Connection;

static struct sockaddr_in server;
static int poll_set;
static uint64_t reconnects, failures, stop_after, issued;
static size_t smallest = SIZE_MAX;  // bytes of the smallest answer, head and all
static char first_failure[400];

static void watch(Connection *c, int operation, uint32_t events) {
    struct epoll_event event = {.events = events, .data.ptr = c};
    if (epoll_ctl(poll_set, operation, c->socket, &event)) refuse("epoll_ctl");
}

static void dial(Connection *c) {
    int yes = 1;
    c->socket = socket(AF_INET, SOCK_STREAM, 0);
    if (c->socket < 0 || connect(c->socket, (struct sockaddr *)&server, sizeof server)) refuse("cannot connect");
    setsockopt(c->socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    fcntl(c->socket, F_SETFL, O_NONBLOCK);
    watch(c, EPOLL_CTL_ADD, EPOLLIN);
}

static void redial(Connection *c) {
    close(c->socket);
    dial(c);
    reconnects++;
}

static void send_rest(Connection *c) {
    while (c->sent < request_length) {
        ssize_t n = send(c->socket, c->out + c->sent, request_length - c->sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EAGAIN) {
            watch(c, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
            return;
        }
        if (n < 0) refuse("the server stopped reading");
        c->sent += (uint32_t)n;
    }
}

static int begin(Connection *c) {
    if (stop_after && issued >= stop_after) return 0;
    issued++;
    fill(c->out);
    c->sent = 0, c->have = 0, c->expected = 0;
    c->started = now();
    send_rest(c);
    return 1;
}

static void read_head(Connection *c, const char *body) {
    long length = -1;
    c->status = atoi(c->in + 9);
    c->closes = !strncmp(c->in, "HTTP/1.0", 8);
    for (const char *line = strchr(c->in, '\n') + 1; line < body - 2; line = strchr(line, '\n') + 1) {
        if (!strncasecmp(line, "content-length:", 15)) length = atol(line + 15);
        if (!strncasecmp(line, "connection: close", 17)) c->closes = 1;
        if (!strncasecmp(line, "connection: keep-alive", 22)) c->closes = 0;
    }
    errno = 0;
    if (length < 0) refuse("an answer came without a Content-Length");
    c->expected = (size_t)(body - c->in) + (size_t)length;
}

static void note_failure(Connection *c) {
    const char *body = strstr(c->in, "\r\n\r\n");
    size_t used = 0;
    failures++;
    if (first_failure[0]) return;
    for (; *body && used < sizeof first_failure - 1; body++)
        if (*body >= ' ' && *body != '\\') first_failure[used++] = *body == '"' ? '\'' : *body;
}

// 1 when the whole answer is here, 0 when more must come, -1 when the server hung up.
static int receive(Connection *c) {
    if (c->room - c->have < 65536) c->in = realloc(c->in, (c->room = c->room * 2 + 131072) + 1);
    ssize_t n = recv(c->socket, c->in + c->have, c->room - c->have, 0);
    if (n < 0 && errno == EAGAIN) return 0;
    if (n <= 0) return -1;
    c->have += (size_t)n;
    c->in[c->have] = 0;
    if (!c->expected) {
        const char *blank = strstr(c->in, "\r\n\r\n");
        if (!blank) return 0;
        read_head(c, blank + 4);
    }
    return c->have >= c->expected;
}

int main(int argc, char **argv) {
    if (argc != 8) refuse("PORT CONNECTIONS WARM_UP_SECONDS SECONDS REQUESTS FIRST_SERIAL TEMPLATE_FILE");
    int connections = atoi(argv[2]);
    double warm_up = atof(argv[3]), seconds = atof(argv[4]);
    stop_after = strtoull(argv[5], NULL, 10);
    next_serial = strtoull(argv[6], NULL, 10);
    read_template(argv[7]);
    server.sin_family = AF_INET;
    server.sin_port = htons((uint16_t)atoi(argv[1]));
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    poll_set = epoll_create1(0);

    Connection *all = calloc((size_t)connections, sizeof *all);
    for (int i = 0; i < connections; i++) {
        all[i].out = malloc(request_length);
        dial(&all[i]);
    }
    uint64_t from = now() + (uint64_t)(warm_up * SECOND), until = from + (uint64_t)(seconds * SECOND);
    uint64_t last = from;
    int waiting = 0;
    for (int i = 0; i < connections; i++) waiting += begin(&all[i]);

    while (waiting && now() < until + DRAIN) {
        struct epoll_event events[64];
        int ready = epoll_wait(poll_set, events, 64, 1000);
        for (int i = 0; i < ready; i++) {
            Connection *c = events[i].data.ptr;
            if (events[i].events & EPOLLOUT) {
                watch(c, EPOLL_CTL_MOD, EPOLLIN);
                send_rest(c);
            }
            if (!(events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))) continue;
            int got = receive(c);
            if (!got) continue;
            uint64_t at = now();
            if (got < 0) {
                failures++;
                if (!first_failure[0]) strcpy(first_failure, "the server hung up in the middle of a request");
                if (failures > 1000) refuse("the server keeps hanging up");
            } else {
                if (c->status != 200) note_failure(c);
                if (c->expected < smallest) smallest = c->expected;
                if (at >= from && at <= until) count(at - c->started);
                last = at;
            }
            if (got < 0 || c->closes) redial(c);
            if (at >= until || !begin(c)) waiting--;
        }
    }
    double elapsed = (double)((stop_after && last < until ? last : until) - from) / SECOND;
    printf("{\"answers\": %llu, \"seconds\": %.4f, \"p50_us\": %.1f, \"p99_us\": %.1f, \"max_us\": %.1f, "
           "\"issued\": %llu, \"smallest\": %zu, \"unanswered\": %d, \"reconnects\": %llu, \"failures\": %llu, \"first_failure\": \"%s\"}\n",
           (unsigned long long)counted, elapsed, quantile_us(0.5), quantile_us(0.99), (double)slowest / 1000.0,
           (unsigned long long)issued, issued ? smallest : 0, waiting, (unsigned long long)reconnects, (unsigned long long)failures,
           first_failure);
    return 0;
}
