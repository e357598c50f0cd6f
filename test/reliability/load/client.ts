// Many clients in one process: bun test/reliability/load/client.ts URL KEY STREAMS. All request a stream at the same
// time; what they received is printed as JSON, of the type ReceivedStreams.
export type ReceivedStreams = {
  /** How many streams had each text. */
  readonly texts: Readonly<Record<string, number>>
  /** How many ended with `[DONE]`. */
  readonly complete: number
  /** Milliseconds between two chunks of a stream. */
  readonly gaps: { readonly median: number; readonly p99: number }
  /** Milliseconds between the first chunk of any stream and the last one. */
  readonly span: number
}

type ReceivedStream = { readonly text: string; readonly complete: boolean; readonly times: readonly number[] }

/** Milliseconds. */
const deadline = 120_000

if (import.meta.main) {
  const [url = '', key = '', streams = '1'] = process.argv.slice(2)
  const received = await Promise.all(Array.from({ length: Number(streams) }, () => listen(url, key)))
  console.log(JSON.stringify(summary(received)))
}

async function listen(url: string, key: string): Promise<ReceivedStream> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'acme/river',
      stream: true,
      messages: [{ role: 'user', content: 'Count.' }],
    }),
    signal: AbortSignal.timeout(deadline),
  })
  if (!response.ok || !response.body) throw new Error(`${response.status}: ${await response.text()}`)
  const decoder = new TextDecoder()
  const times: number[] = []
  let output = ''
  for await (const bytes of response.body) {
    output += decoder.decode(bytes, { stream: true })
    const now = performance.now()
    const count = output.split('"content":"').length - 2
    while (times.length < count) times.push(now)
  }
  const text = [...output.matchAll(/"content":"([^"]*)"/g)].map((match) => match[1]).join('')
  return { text, complete: output.endsWith('data: [DONE]\n\n'), times }
}

function summary(received: readonly ReceivedStream[]): ReceivedStreams {
  const texts: Record<string, number> = {}
  for (const { text } of received) texts[text] = (texts[text] ?? 0) + 1
  const gaps = received.flatMap(({ times }) =>
    times.slice(1).map((time, index) => time - (times[index] ?? time)),
  )
  const sorted = gaps.toSorted((a, b) => a - b)
  const at = (share: number) => Math.round(sorted[Math.floor(sorted.length * share)] ?? 0)
  const starts = received.map(({ times }) => times[0] ?? 0)
  const ends = received.map(({ times }) => times.at(-1) ?? 0)
  return {
    texts,
    complete: received.filter(({ complete }) => complete).length,
    gaps: { median: at(0.5), p99: at(0.99) },
    span: Math.round(Math.max(...ends) - Math.min(...starts)),
  }
}
