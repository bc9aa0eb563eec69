import { expect, test } from 'vitest';

import { Message, type Room } from './message.ts';

const MASK = Buffer.from([1, 2, 3, 4]);
const masked = (text: string) => Buffer.from(Buffer.from(text).map((byte, at) => byte ^ MASK[at % 4]!));

function setUp(left: number, maxMessageBytes = left) {
  const room: Room = { left, maxMessageBytes };
  const heard: string[] = [];
  const socket = () => new Message(room, (message) => heard.push(message.toString()));
  const send = (message: Message, text: string) => {
    message.begin(MASK, false);
    for (const byte of masked(text)) message.add(Buffer.from([byte]));
    message.end();
  };
  return { room, heard, socket, send };
}

test('a message of several frames comes whole, byte by byte too', () => {
  const { room, heard, socket } = setUp(100);
  const message = socket();
  message.begin(MASK, false);
  for (const byte of masked('hello ')) message.add(Buffer.from([byte]));
  message.begin(MASK, true);
  message.add(masked('there'));
  message.end();
  expect([heard, room.left]).toEqual([['hello there'], 100]);
});

test('a message that is too large is dropped, and the next is not', () => {
  const { room, heard, socket, send } = setUp(100, 5);
  const message = socket();
  for (const text of ['123456', '12345']) send(message, text);
  expect([heard, room.left]).toEqual([['12345'], 100]);
});

test('sockets share one buffer limit, and a closed one returns its part', () => {
  const { room, heard, socket, send } = setUp(10);
  const [first, second] = [socket(), socket()];
  first.begin(MASK, false);
  first.add(masked('12345678'));
  send(second, 'abc');
  expect([heard, room.left]).toEqual([[], 2]);
  first.clear();
  send(second, 'abc');
  expect([heard, room.left]).toEqual([['abc'], 10]);
});
