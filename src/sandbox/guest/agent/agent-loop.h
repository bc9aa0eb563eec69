/* Shared by the parts of the agent's own process: its streams, the frames that it sends, and its timers. */
#ifndef WORKCELL_AGENT_LOOP_H
#define WORKCELL_AGENT_LOOP_H

#include <signal.h>
#include <sys/types.h>

#include "agent.h"

enum { VERSION = 2, HEADER = 9, MAX_FRAME = 256 * 1024, WINDOW = 256 * 1024, MAX_REQUEST = 4 * 1024 * 1024 };
enum { OUT_CAPACITY = 4 * MAX_FRAME, MAX_ANSWER = 256, MAX_DRAINS = 64, MAX_LISTENERS = 4 };
/* Requests of the host, then connections: connections cannot take the slots of requests. */
enum { MAX_REQUESTS = 128, MAX_CONNECTIONS = 128, MAX_STREAMS = MAX_REQUESTS + MAX_CONNECTIONS };

struct bytes {
  uint8_t *at;
  size_t length;
};

/* One request of the host or one connection in the guest, from its first frame to its last. */
struct stream {
  uint32_t id; /* 0: free */
  uint8_t op;  /* 0: its request is still coming in parts */
  struct bytes request;
  pid_t pid;     /* the keeper or the fork; 0 once it was reaped */
  pid_t command; /* the first process of a followed command, and its group; 0: not started or not followed */
  int in, out[2], answer_fd;
  struct bytes waiting; /* input that was not taken yet; at most WINDOW */
  bool has_all_input, is_cancelled;
  bool is_broken;  /* its reader or writer has ended */
  bool is_terminal, is_empty; /* whether its last read found nothing: the count of a terminal's bytes is not exact */
  bool is_over;    /* a connection that has ended here, and waits for the host to end it too */
  uint32_t taken;  /* input that the host was not given credit for yet */
  uint32_t credit; /* how many bytes the host accepts */
  uint32_t keep[2];
  uint8_t flags;
  uint8_t answer[MAX_ANSWER];
  size_t answer_length;
  int64_t drained_at_ms; /* when draining began; 0: it still runs */
  int owed[2];           /* output of an ended command that is still to be sent */
};

extern struct stream streams[MAX_STREAMS];

int64_t now_ms(void);
void die(const char *why);

/* Frames to the host: the loop guarantees room for a frame. */
extern uint8_t out[OUT_CAPACITY];
extern size_t out_start, out_end;
size_t out_room(void);
void put_header(uint32_t id, uint8_t op, size_t payload);
void send_frame(uint32_t id, uint8_t op, const void *payload, size_t length);
void send_fail(uint32_t id, uint32_t error, uint8_t about);
void send_out(int channel);

/* Streams. */
struct stream *stream_of(uint32_t id);
struct stream *open_stream(uint32_t id, int first, int count);
void close_stream(struct stream *s);
void append(struct bytes *to, const void *from, size_t length);
void start_child(struct stream *s);
/* False with errno. The other side has one descriptor for each of the three that the command gets. */
bool open_terminal(const struct stream *s, int *master, int sides[3]);
/* How many bytes precede the next key that is a signal here; sends such a key at the beginning as a signal. */
size_t typed_run(struct stream *s, const uint8_t *from, size_t length);
void resize_terminal(struct stream *s, struct reader *r);
void signal_command(struct stream *s, struct reader *r);
void feed(struct stream *s);
void take_input(struct stream *s, const uint8_t *payload, size_t length);
void acknowledge(struct stream *s, size_t given);
void carry(struct stream *s, int which);
void serve_stream(struct stream *s);
void serve_drains(void);
void reap(void);
int64_t due_in_ms(const struct stream *s, int64_t now);

void kill_tree(struct stream *s);

/* Limits the memory of programs in a virtual machine. -1: not watched. */
int64_t memory_due_in_ms(int64_t now);
void check_memory(void);

void set_clock(uint32_t id, struct reader *r);
void add_entropy(uint32_t id, struct reader *r);
void set_hostname(uint32_t id, struct reader *r);

/* Connections that programs of the guest make to the agent. */
void listen_for(uint32_t id, struct reader *r);
void stop_listening(void);
void accept_connections(void);
void serve_connection(struct stream *s);

/* Events that the loop waits for. */
void wait_on(int fd, short events);
void wait_on_drains(void);
void wait_on_listeners(void);

#endif
