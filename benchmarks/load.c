// load: drives one HTTP server as hard as a fixed number of connections can, and says how it did.
//
//   load PORT CONNECTIONS WARM_UP_SECONDS SECONDS REQUESTS FIRST_SERIAL TEMPLATE_FILE
//
// Each connection is a closed loop on keep-alive: it sends a request, waits for the whole answer, sends the next one.
// Answers that end between warm-up and end are counted; REQUESTS > 0 stops after that many instead of by the clock.
// What must hold: every request differs from the one before (stores skip writes that change nothing), and the
// generator does nothing per request but fill numbers into a text built beforehand (and sign it, where the server checks
// signatures), so that the server is the limit.
//
// TEMPLATE_FILE, little endian: u32 slots, u32 stride, u32 bytes, then the slots, then the bytes of one HTTP request; then,
// if requests are to be signed, u32 place of the signature, u32 place of the body, u32 bytes of the canonical request, u32
// bytes of the text to sign, the signing key, and these two texts, each up to the hash that ends it (signing.py).
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

// ---- signatures: SHA-256 (FIPS 180-4), its HMAC, and signature version 4 ----

typedef struct {
    uint32_t state[8];
    uint8_t block[64];
    uint64_t length;
} Hash;

static const uint32_t HASH_START[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
static uint32_t round_constants[64];

// The first 32 bits of the fractions of the cube roots of the first 64 primes.
static void find_round_constants(void) {
    unsigned found = 0;
    for (unsigned candidate = 2; found < 64; candidate++) {
        int prime = 1;
        for (unsigned divisor = 2; divisor * divisor <= candidate; divisor++) prime &= candidate % divisor != 0;
        if (!prime) continue;
        unsigned __int128 wanted = (unsigned __int128)candidate << 96;  // the cube of a root with 32 binary places
        uint64_t root = 0;
        for (int bit = 36; bit >= 0; bit--) {
            uint64_t more = root | 1ull << bit;
            if ((unsigned __int128)more * more * more <= wanted) root = more;
        }
        round_constants[found++] = (uint32_t)root;
    }
}

static uint32_t turn(uint32_t word, int by) { return word >> by | word << (32 - by); }

static void hash_block(Hash *hash) {
    uint32_t w[64], v[8];
    for (int i = 0; i < 16; i++) {
        const uint8_t *b = hash->block + 4 * i;
        w[i] = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
    }
    for (int i = 16; i < 64; i++) {
        uint32_t low = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t high = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + low + w[i - 7] + high;
    }
    memcpy(v, hash->state, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t high = turn(v[4], 6) ^ turn(v[4], 11) ^ turn(v[4], 25), choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
        uint32_t low = turn(v[0], 2) ^ turn(v[0], 13) ^ turn(v[0], 22);
        uint32_t first = v[7] + high + choice + round_constants[i] + w[i];
        uint32_t second = low + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += first;
        v[0] = first + second;
    }
    for (int i = 0; i < 8; i++) hash->state[i] += v[i];
}

static void hash_start(Hash *hash) {
    memcpy(hash->state, HASH_START, sizeof hash->state);
    hash->length = 0;
}

static void hash_more(Hash *hash, const void *text, size_t length) {
    const uint8_t *from = text;
    while (length) {
        size_t used = hash->length % 64, part = length < 64 - used ? length : 64 - used;
        memcpy(hash->block + used, from, part);
        hash->length += part, from += part, length -= part;
        if (hash->length % 64 == 0) hash_block(hash);
    }
}

static void hash_end(Hash *hash, uint8_t out[32]) {
    uint64_t bits = hash->length * 8;
    uint8_t tail[72] = {0x80};
    size_t padding = 64 - (hash->length + 8) % 64;
    for (int i = 0; i < 8; i++) tail[padding + (size_t)i] = (uint8_t)(bits >> (56 - 8 * i));
    hash_more(hash, tail, padding + 8);
    for (int i = 0; i < 32; i++) out[i] = (uint8_t)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
}

static void as_hex(const uint8_t bytes[32], char *out) {
    for (int i = 0; i < 64; i++) out[i] = "0123456789abcdef"[i % 2 ? bytes[i / 2] & 15 : bytes[i / 2] >> 4];
}

static uint32_t signature_at, body_at, canonical_length, to_sign_length;
static char *canonical, *to_sign;  // each with room for the hash that ends it
static Hash inner_start, outer_start;  // an HMAC begins with the key, which is the same every time

static void read_signing(FILE *file) {
    uint32_t head[4];
    uint8_t key[32], inner[64], outer[64];
    if (fread(head, sizeof head, 1, file) != 1) return;
    signature_at = head[0], body_at = head[1], canonical_length = head[2], to_sign_length = head[3];
    canonical = malloc(canonical_length + 64), to_sign = malloc(to_sign_length + 64);
    if (fread(key, 32, 1, file) != 1 || fread(canonical, canonical_length, 1, file) != 1 ||
        fread(to_sign, to_sign_length, 1, file) != 1)
        refuse("the template ends in its signature");
    find_round_constants();
    for (int i = 0; i < 64; i++) inner[i] = 0x36 ^ (i < 32 ? key[i] : 0), outer[i] = 0x5c ^ (i < 32 ? key[i] : 0);
    hash_start(&inner_start), hash_more(&inner_start, inner, 64);
    hash_start(&outer_start), hash_more(&outer_start, outer, 64);
}

static void sign(char *text) {
    Hash hash;
    uint8_t out[32];
    hash_start(&hash), hash_more(&hash, text + body_at, request_length - body_at), hash_end(&hash, out);
    as_hex(out, canonical + canonical_length);
    hash_start(&hash), hash_more(&hash, canonical, canonical_length + 64), hash_end(&hash, out);
    as_hex(out, to_sign + to_sign_length);
    hash = inner_start, hash_more(&hash, to_sign, to_sign_length + 64), hash_end(&hash, out);
    hash = outer_start, hash_more(&hash, out, 32), hash_end(&hash, out);
    as_hex(out, text + signature_at);
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
    read_signing(file);
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
    if (signature_at) sign(text);
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
