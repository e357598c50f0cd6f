import { fieldsOf, listOf, textOf } from '../../../../src/lib/json/json.ts'
import { completionOf, chatOutput } from '../../../support/chat-fixtures.ts'

/** An engine that keeps the prompts that it has processed, and reports how much of the next one it had. */
export type PrefixEngine = AsyncDisposable & {
  /** The address with `/v1` behind it. */
  readonly url: string
}

/** Starts the engine; each message has ten tokens, and a conversation whose beginning is cached costs only the rest. */
export function startPrefixEngine(port = 0): PrefixEngine {
  const cached = new Set<bigint>()
  const server = Bun.serve({
    port,
    hostname: '127.0.0.1',
    async fetch(request) {
      const messages = listOf(fieldsOf(await request.json()).messages)
      const hashes = prefixHashes(messages.map((message) => textOf(fieldsOf(message).content) ?? ''))
      const known = hashes.findLastIndex((hash) => cached.has(hash)) + 1
      for (const hash of hashes) cached.add(hash)
      return Response.json(completionOf(chatOutput({}, { usage: usageOf(messages.length, known) })))
    },
  })
  return { url: `http://127.0.0.1:${server.port}/v1`, [Symbol.asyncDispose]: () => server.stop(true) }
}

/** The hash of each beginning of the conversation, by its number of messages. */
function prefixHashes(texts: readonly string[]): readonly bigint[] {
  let hash = 0n
  return texts.map((text) => (hash = Bun.hash.wyhash(text, hash)))
}

function usageOf(messages: number, known: number): object {
  const [prompt_tokens, completion_tokens] = [10 * messages, 5]
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    prompt_tokens_details: { cached_tokens: 10 * known },
  }
}
