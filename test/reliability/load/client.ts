// Many clients in one process: bun test/reliability/load/client.ts URL KEY STREAMS. All ask at once for a stream; what they
// heard is told as JSON, of the type Heard.
export type Heard = {
  /** How many streams had each text. */
  readonly texts: Readonly<Record<string, number>>
  /** How many ended with `[DONE]`. */
  readonly whole: number
  /** Milliseconds between two chunks of a stream. */
  readonly gaps: { readonly median: number; readonly p99: number }
  /** Milliseconds between the first chunk of any stream and the last one. */
  readonly span: number
}

type Told = { readonly text: string; readonly whole: boolean; readonly times: readonly number[] }

/** Milliseconds. */
const deadline = 25_000

if (import.meta.main) {
  const [url = '', key = '', streams = '1'] = process.argv.slice(2)
  const told = await Promise.all(Array.from({ length: Number(streams) }, () => listen(url, key)))
  console.log(JSON.stringify(summary(told)))
}

async function listen(url: string, key: string): Promise<Told> {
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
  let said = ''
  for await (const bytes of response.body) {
    said += decoder.decode(bytes, { stream: true })
    const now = performance.now()
    const count = said.split('"content":"').length - 2
    while (times.length < count) times.push(now)
  }
  const text = [...said.matchAll(/"content":"([^"]*)"/g)].map((match) => match[1]).join('')
  return { text, whole: said.endsWith('data: [DONE]\n\n'), times }
}

function summary(told: readonly Told[]): Heard {
  const texts: Record<string, number> = {}
  for (const { text } of told) texts[text] = (texts[text] ?? 0) + 1
  const gaps = told.flatMap(({ times }) => times.slice(1).map((time, index) => time - (times[index] ?? time)))
  const sorted = gaps.toSorted((a, b) => a - b)
  const at = (share: number) => Math.round(sorted[Math.floor(sorted.length * share)] ?? 0)
  const starts = told.map(({ times }) => times[0] ?? 0)
  const ends = told.map(({ times }) => times.at(-1) ?? 0)
  return {
    texts,
    whole: told.filter(({ whole }) => whole).length,
    gaps: { median: at(0.5), p99: at(0.99) },
    span: Math.round(Math.max(...ends) - Math.min(...starts)),
  }
}
