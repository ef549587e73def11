/**
 * Ring all-reduce, chunk by chunk: twin of `pixelbank/chapters/cores/ring_allreduce.py`, which says how it works and
 * where it comes from (Patarasuk and Yuan, 2009). `draw` is the twin of `figures/ring_allreduce.py`.
 */
import { num, Scene } from "./scene";

/** float32. */
export const BYTES_PER_VALUE = 4;

/** Length of each device's buffer in the figure: the same for every number of devices, so that bytes compare. */
export const EXAMPLE_VALUES = 240;

export type Transfer = { sender: number; receiver: number; chunk: number; values: number[]; adds: boolean };

export type Frame = {
  step: number;
  phase: "start" | "reduce-scatter" | "all-gather";
  /** Per device, its values. */
  buffers: number[][];
  /** Per device and chunk: how many devices' values are summed in it. */
  parts: number[][];
  /** Per device: how many values it has sent so far. */
  sent: number[];
  transfers: Transfer[];
};

/** Where the chunks begin and end: devices + 1 offsets; the first `values % devices` chunks are one longer. */
export function chunkBounds(values: number, devices: number): number[] {
  const small = Math.floor(values / devices);
  const longer = values % devices;
  return Array.from({ length: devices + 1 }, (_, chunk) => chunk * small + Math.min(chunk, longer));
}

/** All 2(N-1)+1 frames. Throws for fewer than two devices or buffers of different length. */
export function ringAllReduce(buffers: readonly (readonly number[])[]): Frame[] {
  const n = buffers.length;
  if (n < 2) throw new RangeError("a ring needs at least two devices");
  const length = buffers[0]!.length;
  if (buffers.some((row) => row.length !== length)) {
    throw new RangeError("every device must hold a buffer of the same length");
  }
  const bounds = chunkBounds(length, n);
  const now = buffers.map((row) => [...row]);
  const parts = buffers.map(() => Array<number>(n).fill(1));
  const sent = Array<number>(n).fill(0);
  const keep = (step: number, phase: Frame["phase"], transfers: Transfer[]): Frame => ({
    step,
    phase,
    buffers: now.map((row) => [...row]),
    parts: parts.map((row) => [...row]),
    sent: [...sent],
    transfers,
  });
  const frames = [keep(0, "start", [])];
  for (let step = 0; step < 2 * (n - 1); step += 1) {
    const adds = step < n - 1;
    // In all-gather, device d starts from chunk d+1, the one that it finished in reduce-scatter.
    const first = adds ? 0 : 1;
    const turn = adds ? step : step - (n - 1);
    const transfers = now.map((row, sender): Transfer => {
      const chunk = (((sender + first - turn) % n) + n) % n;
      const values = row.slice(bounds[chunk], bounds[chunk + 1]);
      return { sender, receiver: (sender + 1) % n, chunk, values, adds };
    });
    const counts = transfers.map(({ sender, chunk }) => parts[sender]![chunk]!);
    for (const { sender, receiver, chunk, values } of transfers) {
      const at = bounds[chunk]!;
      const target = now[receiver]!;
      values.forEach((value, i) => {
        target[at + i] = adds ? target[at + i]! + value : value;
      });
      const held = parts[receiver]!;
      held[chunk] = counts[sender]! + (adds ? held[chunk]! : 0);
      sent[sender] = sent[sender]! + values.length;
    }
    frames.push(keep(step + 1, adds ? "reduce-scatter" : "all-gather", transfers));
  }
  return frames;
}

/** Small whole numbers, different on every device: easy to add up in one's head. EXAMPLE_VALUES a device. */
export function exampleGradients(devices: number): number[][] {
  return Array.from({ length: devices }, (_, d) =>
    Array.from({ length: EXAMPLE_VALUES }, (_, i) => ((3 * d * d + 5 * i * i + 7 * d * i + 2 * d) % 19) - 9),
  );
}

/** What each device sends when the chunks are equal: 2(N-1)/N times the buffer. */
export function bytesPerDevice(devices: number, bufferBytes: number): number {
  return ((2 * (devices - 1)) / devices) * bufferBytes;
}

/** One sentence that says what happened in this step. */
export function describe(frames: readonly Frame[], step: number): string {
  const frame = frames[step]!;
  const n = frame.buffers.length;
  const total = 2 * (n - 1);
  if (step === 0) return `Start: ${n} devices, each with its own gradients in ${n} chunks. Nothing has been sent.`;
  if (frame.phase === "reduce-scatter") {
    const { receiver, chunk } = frame.transfers[0]!;
    return (
      `Step ${step} of ${total}, reduce-scatter: each device sends one chunk to the next, which adds it: ` +
      `device ${receiver} now has ${frame.parts[receiver]![chunk]} of ${n} contributions in chunk ${chunk}.`
    );
  }
  return (
    `Step ${step} of ${total}, all-gather: finished chunks are passed on and copied; ` +
    `${complete(frame)} of ${n * n} chunks are complete.`
  );
}

function complete(frame: Frame): number {
  return frame.parts.flat().filter((count) => count === frame.parts.length).length;
}

export const TABLE_HEAD = ["Step", "Phase", "Device 0 sends", "Bytes sent by device 0 so far", "Complete chunks"];

/** One row a step. */
export function tableRows(frames: readonly Frame[]): string[][] {
  return frames.map((frame) => {
    const own = frame.transfers.find(({ sender }) => sender === 0);
    const sends = own ? `chunk ${own.chunk} to device ${own.receiver}` : "nothing";
    return [String(frame.step), frame.phase, sends, String(frame.sent[0]! * BYTES_PER_VALUE), String(complete(frame))];
  });
}

const LEFT = 118;
const RIGHT = 76;
const TOP = 30;
const GAP = 6;

/** What the simulation counted beside what the formula says. */
export function countSentence(frames: readonly Frame[]): string {
  const n = frames[0]!.buffers.length;
  const size = EXAMPLE_VALUES * BYTES_PER_VALUE;
  const counted = frames.at(-1)!.sent[0]! * BYTES_PER_VALUE;
  return (
    `A buffer of ${EXAMPLE_VALUES} values is S = ${size} bytes. Counted in the simulation: device 0 sends ${counted} ` +
    `bytes in all ${frames.length - 1} steps. The formula 2(N − 1)/N · S gives ${num(bytesPerDevice(n, size))}.`
  );
}

/** Buffers as cells, each with its chunk's first value; a chunk that just arrived has an orange frame. */
export function draw(frame: Frame): Scene {
  const n = frame.buffers.length;
  const bounds = chunkBounds(frame.buffers[0]!.length, n);
  const cell = n <= 6 ? 56 : n <= 10 ? 48 : 41;
  const row = n <= 8 ? 46 : 36;
  const end = LEFT + n * cell + RIGHT;
  const scene = new Scene(end, TOP + n * row + 24);
  for (let chunk = 0; chunk < n; chunk += 1) {
    scene.text(LEFT + (chunk + 0.5) * cell, TOP - 12, String(chunk), "label-soft small");
  }
  scene.text(LEFT - 34, TOP - 12, "chunk", "label-soft small", "end");
  scene.text(end - 2, TOP - 12, "bytes sent", "label-soft small", "end");
  const arriving = new Set(frame.transfers.map(({ receiver, chunk }) => `${receiver} ${chunk}`));
  for (let device = 0; device < n; device += 1) {
    const top = TOP + device * row;
    const middle = top + (row - GAP) / 2;
    scene.text(LEFT - 34, middle + 5, `${n <= 10 ? "device" : "dev."} ${device}`, "label", "end");
    scene.text(end - 2, middle + 5, `${frame.sent[device]! * BYTES_PER_VALUE} B`, "communication", "end");
    for (let chunk = 0; chunk < n; chunk += 1) {
      const left = LEFT + chunk * cell;
      const parts = frame.parts[device]![chunk]!;
      const done = parts === n;
      const width = cell - GAP;
      const height = row - GAP;
      scene.rect(left + GAP / 2, top, width, height, "cell-back");
      scene.rect(left + GAP / 2, top, width, height, "gradients", 0.12 + (0.5 * (parts - 1)) / (n - 1));
      if (arriving.has(`${device} ${chunk}`)) {
        scene.rect(left + GAP / 2 + 1.5, top + 1.5, width - 3, height - 3, "arrived line communication");
      }
      const value = num(frame.buffers[device]![bounds[chunk]!]!).replace("-", "−");
      scene.text(left + cell / 2, middle + (row > 40 ? 1 : 5), value, done ? "value done" : "value");
      if (row > 40) {
        scene.text(left + cell / 2, middle + 15, done ? `✓ ${parts}/${n}` : `${parts}/${n}`, "tiny");
      } else if (done) {
        scene.path(`M${num(left + GAP / 2 + 3)} ${num(top + 3)}h7l-7 7z`, "mark done");
      }
    }
  }
  if (frame.transfers.length) arrows(scene, n, row);
  return scene;
}

function arrows(scene: Scene, n: number, row: number): void {
  for (let device = 0; device < n - 1; device += 1) {
    const y = TOP + device * row + (row - GAP) / 2;
    scene.path(`M${num(LEFT - 28)} ${num(y)}q14 ${num(row / 2)} 0 ${num(row - 3)}`, "line communication thin");
    scene.path(`M${num(LEFT - 29)} ${num(y + row)}l3 -8l6 5z`, "communication");
  }
  const top = TOP + (row - GAP) / 2;
  const bottom = TOP + (n - 1) * row + (row - GAP) / 2;
  scene.path(`M${num(LEFT - 98)} ${num(bottom)}H8V${num(top)}H${num(LEFT - 104)}`, "line communication thin");
  scene.path(`M${num(LEFT - 97)} ${num(top)}l-8 -4v8z`, "communication");
}

/** The same computation as a short Python program, for "copy as Python". */
export function asPython(n: number): string {
  return `# Ring all-reduce with ${n} devices, ${EXAMPLE_VALUES} values each.
n, size = ${n}, ${EXAMPLE_VALUES}
buffers = [[(3*d*d + 5*i*i + 7*d*i + 2*d) % 19 - 9 for i in range(size)] for d in range(n)]
total = [sum(column) for column in zip(*buffers)]
cuts = [c * (size // n) + min(c, size % n) for c in range(n + 1)]
sent = [0] * n
for step in range(2 * (n - 1)):
    adds = step < n - 1
    first, turn = (0, step) if adds else (1, step - (n - 1))
    moves = []
    for d in range(n):  # read everything before anything is written: all devices send at once
        c = (d + first - turn) % n
        moves.append((d, (d + 1) % n, cuts[c], buffers[d][cuts[c]:cuts[c + 1]]))
    for d, to, at, values in moves:
        for i, value in enumerate(values):
            buffers[to][at + i] = buffers[to][at + i] + value if adds else value
        sent[d] += len(values)
assert all(row == total for row in buffers)
print("first mean gradients:", [value / n for value in total[:4]])
print("values sent:", sent, "formula:", 2 * (n - 1) / n * size)
`;
}
