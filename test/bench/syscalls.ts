/** A running count of the system calls of a process. */
export type SyscallCount = {
  /** Ends the count and returns the number of calls. */
  stop(): Promise<number>
}

const perf = ['perf', 'stat', '-x,', '-e', 'raw_syscalls:sys_enter'] as const
const strace = ['strace', '-c', '-f'] as const

/** Returns the tool that can count system calls here, if there is one. perf slows a process down less. */
export async function syscallTool(): Promise<SyscallTool | undefined> {
  for (const tool of ['perf', 'strace'] as const) if (await canCount(tool)) return tool
  return undefined
}

/** The programs that can count system calls. */
export type SyscallTool = keyof typeof counters

const counters = { perf: countWithPerf, strace: countWithStrace } as const

/** A machine may have the program, and forbid it to attach itself to others. */
async function canCount(tool: SyscallTool): Promise<boolean> {
  if (Bun.which(tool) === null) return false
  try {
    const counting = await counters[tool](process.pid)
    return (await counting.stop()) > 0
  } catch {
    return false
  }
}

/** Starts to count the system calls of a process with all its threads; throws where no tool can. */
export async function countSyscalls(pid: number): Promise<SyscallCount> {
  const tool = await syscallTool()
  if (tool === undefined) throw new Error('Neither perf nor strace can count system calls here.')
  return counters[tool](pid)
}

/** perf attaches without counting, and acknowledges each command that enables or disables the count. */
async function countWithPerf(pid: number): Promise<SyscallCount> {
  const command = [...perf, '-D', '-1', '--control', 'fd:0,1', '-p', String(pid)]
  const child = Bun.spawn(command, { stdio: ['pipe', 'pipe', 'pipe'] })
  const acknowledgements = readerOf(child.stdout)
  const send = (text: string) => {
    child.stdin.write(`${text}\n`)
    child.stdin.flush()
    return acknowledgements.until(/ack\n/)
  }
  await send('enable')
  return {
    async stop() {
      await send('disable')
      child.kill('SIGINT')
      return numberIn(await child.stderr.text(), /^(\d+),.*raw_syscalls:sys_enter/m)
    },
  }
}

/** strace says when it has attached itself, and prints its table when it is interrupted. */
async function countWithStrace(pid: number): Promise<SyscallCount> {
  const child = Bun.spawn([...strace, '-p', String(pid)], { stdio: ['ignore', 'ignore', 'pipe'] })
  const output = readerOf(child.stderr)
  await output.until(/attached/)
  return {
    async stop() {
      child.kill('SIGINT')
      // The columns are the share, the seconds, the microseconds of each call, and then the calls.
      return numberIn(await output.until(/ total\n/), /^ *100\.00 +\S+ +\d+ +(\d+) .*total$/m)
    },
  }
}

/** Reads a stream piece by piece. */
function readerOf(stream: ReadableStream<Uint8Array>) {
  const reader = stream.getReader()
  const decoder = new TextDecoder()

  /** Returns the text since the last call, once it matches. */
  async function until(pattern: RegExp): Promise<string> {
    let text = ''
    while (!pattern.test(text)) {
      const { done, value } = await reader.read()
      if (done) throw new Error(`System calls were not counted: ${text.slice(0, 200)}`)
      text += decoder.decode(value, { stream: true })
    }
    return text
  }

  return { until }
}

function numberIn(text: string, pattern: RegExp): number {
  const found = pattern.exec(text)?.[1]
  if (found === undefined) throw new Error(`System calls were not counted: ${text.slice(0, 200)}`)
  return Number(found)
}
