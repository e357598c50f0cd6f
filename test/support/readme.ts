/** The commands and settings that a page shows. */
export type Page = {
  /** Its fenced `sh` blocks in order, each as whole commands without comments. */
  readonly blocks: readonly (readonly string[])[]
  /** The pieces of code in its sentences and tables. */
  readonly spans: readonly string[]
}

/** Reads a Markdown page. */
export function readPage(markdown: string): Page {
  const blocks = [...markdown.matchAll(/^```sh\n(.*?)^```$/gms)].map((match) => commandsOf(match[1] ?? ''))
  const prose = markdown.replace(/^```.*?^```$/gms, '')
  return { blocks, spans: [...prose.matchAll(/`([^`\n]+)`/g)].map((match) => match[1] ?? '') }
}

function commandsOf(block: string): string[] {
  const complete = block.replaceAll('\\\n', ' ').split('\n')
  return complete.map((line) => line.replace(/(^|\s)#.*$/, '').trim()).filter((line) => line !== '')
}
