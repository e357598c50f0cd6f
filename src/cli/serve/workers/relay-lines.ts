/** The longest part of a line that waits for its end. */
const maxPendingCharacters = 1024 * 1024

/** Passes the lines of a stream on, whole and without line ends, until it ends; a very long line is split. */
export async function relayLines(
  stream: ReadableStream<Uint8Array>,
  write: (line: string) => void,
): Promise<void> {
  const decoder = new TextDecoder()
  let pending = ''
  for await (const bytes of stream) {
    const lines = (pending + decoder.decode(bytes, { stream: true })).split('\n')
    pending = lines.pop() ?? ''
    for (const line of lines) write(line)
    if (pending.length <= maxPendingCharacters) continue
    write(pending)
    pending = ''
  }
  // The process may have been killed in the middle of a line.
  if (pending !== '') write(pending)
}
