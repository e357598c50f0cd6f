import { CommandError } from '../args.ts'

/** Milliseconds until the server must serve. */
const deadline = 10_000
/** In characters: what follows is the log of its requests. */
const longestBanner = 4000

/**
 * Resolves with the address that a server tells on its standard output, which is then read on to its end: a log that
 * nobody reads would hold the server up. Its complaints are in the log of the errors.
 */
export async function addressOf(
  output: ReadableStream<Uint8Array>,
  errors: { text(): Promise<string> },
): Promise<string> {
  const found = Promise.withResolvers<string | undefined>()
  const late = setTimeout(() => found.resolve(undefined), deadline)
  let said = ''
  const reading = readText(output, (text) => {
    if (said.length > longestBanner) return
    said += text
    const [, url] = /listens on (\S+)\n/.exec(said) ?? []
    if (url !== undefined) found.resolve(url)
  })
  reading.then(() => found.resolve(undefined), found.reject)
  const url = await found.promise.finally(() => clearTimeout(late))
  if (url !== undefined) return url
  const complaint = said.trim() || (await errors.text()).trim() || 'nothing'
  throw new CommandError(`The gateway that was to be measured did not start. It said: ${complaint}`)
}

async function readText(output: ReadableStream<Uint8Array>, hear: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder()
  for await (const bytes of output) hear(decoder.decode(bytes, { stream: true }))
}
