/** A page whose regions are written by the generator; what is outside of them is written by hand. */
export type Page = {
  /** The path from the root of the repository. */
  readonly path: string
  /** Returns the Markdown of each region by its name. */
  regions(): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>
}

/**
 * Returns the text with the content of each region replaced. A region stands between `<!-- generated: NAME -->` and
 * `<!-- end -->`. Throws if the page lacks one, or has one that is not generated.
 */
export function fillRegions(text: string, regions: Readonly<Record<string, string>>): string {
  const filled = new Set<string>()
  const result = text.replace(region, (_, begin: string, name: string, end: string) => {
    const content = Object.hasOwn(regions, name) ? regions[name] : undefined
    if (content === undefined) throw new Error(`The region “${name}” of the page is not generated.`)
    filled.add(name)
    return `${begin}\n\n${content.trim()}\n\n${end}`
  })
  const missing = Object.keys(regions).filter((name) => !filled.has(name))
  if (missing.length > 0) throw new Error(`The page has no region “${missing.join('”, “')}”.`)
  return result
}

const region = /^(<!-- generated: ([a-z0-9-]+) -->)$[^]*?^(<!-- end -->)$/gm
