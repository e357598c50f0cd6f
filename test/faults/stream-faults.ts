import type { Fault } from './fault.ts'

/** Streams that end, continue or are retried wrong. */
export const streamFaults: readonly Fault[] = [
  {
    name: 'a stream that breaks ends with [DONE]',
    file: 'src/http/event-stream.ts',
    original: 'return `data: ${JSON.stringify(error.toBody())}\\n\\n`',
    replacement: 'return `data: ${JSON.stringify(error.toBody())}\\n\\n${doneFrame}`',
    tests: ['test/api/chat/broken-streams.test.ts'],
  },
  {
    name: 'a stream that breaks has no error frame',
    file: 'src/http/event-stream.ts',
    original: 'void this.#write(this.#source.failed(error))',
    replacement: 'this.#source.failed(error)',
    tests: ['test/api/chat/broken-streams.test.ts'],
  },
  {
    name: 'a stream has a usage frame only where none was requested',
    file: 'src/api/chat-completions/service.ts',
    original: 'if (!renderer.includeUsage) return doneFrame',
    replacement: 'if (renderer.includeUsage) return doneFrame',
    tests: ['test/api/chat/stream.test.ts'],
  },
  {
    name: 'a client that disconnects does not abort the upstream call',
    file: 'src/gateway/call.ts',
    original: 'this.abortSource.abort(reason)\n',
    replacement: '',
    tests: ['test/api/money/chat-disconnect.test.ts'],
  },
  {
    name: 'a request that a provider rejects is sent to the next provider',
    file: 'src/gateway/routing/retry.ts',
    original: 'if (error.status !== 502) return undefined',
    replacement: 'if (error.status >= 600) return undefined',
    tests: ['test/api/chat/routes.test.ts'],
  },
  {
    name: 'the tool calls of a stream all have the index of the first',
    file: 'src/api/chat-completions/render.ts',
    original: 'this.#toolCalls[choice] = index + 1',
    replacement: 'this.#toolCalls[choice] = index',
    tests: ['test/api/chat/tool-loops.test.ts'],
  },
  {
    name: 'a stream that is resumed repeats the event after which it starts',
    file: 'src/api/responses/live/replay.ts',
    original: 'events.filter(({ sequence }) => sequence > after)',
    replacement: 'events.filter(({ sequence }) => sequence >= after)',
    tests: ['test/api/background/readers.test.ts'],
  },
  {
    name: 'a slot of a provider is not freed when its call ends',
    file: 'src/gateway/call.ts',
    original: '    this.releaseProviderSlot()\n    const outcome',
    replacement: '    const outcome',
    tests: ['test/api/chat/provider-queues.test.ts'],
  },
  {
    name: 'a call whose client has left keeps its place in the queue',
    file: 'src/gateway/routing/route-slots.ts',
    original: '    this.#leave()\n    this.#outcome.reject(error)',
    replacement: '    this.#outcome.reject(error)',
    tests: ['test/api/chat/waiting-streams.test.ts', 'test/api/chat/provider-queues.test.ts'],
  },
]
