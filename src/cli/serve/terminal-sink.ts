import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { errorCode } from '../../lib/platform-failure.ts'
import type { Sink } from '../../observability/request-log/line-writer.ts'

/**
 * Opens the terminal of the file descriptor a second time, for writes that never block, as they would while it is
 * paused with Ctrl-S. The file descriptor itself stays as it is: it is shared with the shell. Returns undefined where
 * the terminal cannot be opened.
 */
export function openTerminalSink(descriptor: number): Sink | undefined {
  try {
    const path = terminalPath(descriptor)
    const opened = path && openSync(path, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
    if (!opened) return undefined
    if (deviceOf(opened) === deviceOf(descriptor)) return new TerminalSink(opened)
    closeSync(opened)
  } catch {
    // The terminal may belong to another user, as after `su`.
  }
  return undefined
}

function terminalPath(descriptor: number): string | undefined {
  if (process.platform === 'win32') return undefined
  if (process.platform !== 'linux') return findTerminal(deviceOf(descriptor))
  const path = `/proc/self/fd/${descriptor}`
  // Opening the controlling side of a pseudo terminal would create another one.
  return readlinkSync(path).endsWith('/ptmx') ? undefined : path
}

/** Elsewhere than on Linux, opening `/dev/fd/1` only duplicates the file descriptor. */
function findTerminal(device: number): string | undefined {
  const paths = readdirSync('/dev').flatMap((name) => (/^tty./.test(name) ? [join('/dev', name)] : []))
  return paths.find((path) => statSync(path, { throwIfNoEntry: false })?.rdev === device)
}

function deviceOf(descriptor: number): number {
  return fstatSync(descriptor).rdev
}

/** So much is written at once before other work has its turn. */
const maxBytesPerTurn = 64 * 1024
const minRetryDelayMs = 1
const maxRetryDelayMs = 100

type Write = { readonly bytes: Uint8Array; readonly written: () => void }

class TerminalSink implements Sink {
  readonly #descriptor: number
  readonly #pending: Write[] = []
  #offset = 0
  #retryDelayMs = minRetryDelayMs
  #busy = false

  constructor(descriptor: number) {
    this.#descriptor = descriptor
  }

  write(text: string, written: () => void): void {
    this.#pending.push({ bytes: Buffer.from(text), written })
    if (!this.#busy) this.#writePending()
  }

  readonly #writePending = (): void => {
    this.#busy = true
    for (;;) {
      const [first] = this.#pending
      if (first === undefined) break
      this.#offset += this.#writeSome(first.bytes.subarray(this.#offset))
      if (this.#offset < first.bytes.length) return this.#continueLater()
      this.#pending.shift()
      this.#offset = 0
      first.written()
    }
    this.#busy = false
  }

  /** Returns how many bytes were written: none while the terminal is paused. */
  #writeSome(bytes: Uint8Array): number {
    const part = bytes.subarray(0, maxBytesPerTurn)
    const count = this.#tryWrite(part)
    if (count === undefined) return bytes.length
    if (count > 0) this.#retryDelayMs = minRetryDelayMs
    else this.#retryDelayMs = Math.min(this.#retryDelayMs * 2, maxRetryDelayMs)
    return count
  }

  /** Returns undefined if the terminal is gone, and with it the reader of the text. */
  #tryWrite(bytes: Uint8Array): number | undefined {
    try {
      return writeSync(this.#descriptor, bytes)
    } catch (error) {
      return errorCode(error) === 'EAGAIN' ? 0 : undefined
    }
  }

  /** There is no event for a terminal that can be written to again. A paused one does not keep the process alive. */
  #continueLater(): void {
    setTimeout(this.#writePending, this.#retryDelayMs).unref()
  }
}
