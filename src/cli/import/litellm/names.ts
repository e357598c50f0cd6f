import { catalog } from '../../../config/catalog.ts'

/** The slugs of the models that Weir has without any settings. */
const builtInSlugs: ReadonlySet<string> = new Set([...catalog.models.map(({ slug }) => slug), 'weir/echo'])

/** Chooses slugs and aliases so that each name belongs to one model. */
export class Names {
  readonly #used = new Set<string>()

  /** `reserved`: the names of models that are slugs already, which no other model may take. */
  constructor(reserved: Iterable<string>) {
    for (const name of reserved) if (isSlug(name)) this.#used.add(name)
  }

  /** Returns a slug: the name if it is one, else the model's own in the catalog, else the provider's and the name. */
  takeSlug(name: string, provider: string, catalogSlug: string | undefined): string {
    if (isSlug(name)) return name
    if (catalogSlug !== undefined && !this.#used.has(catalogSlug)) return this.#take(catalogSlug)
    const word = name.replaceAll(/\s+/g, '-').replace(/^\/+/, '') || 'model'
    for (let number = 1; ; number++) {
      const suffix = number === 1 ? '' : `-${number}`
      const free = [`${provider}/${word}${suffix}`, `litellm/${word}${suffix}`].find((slug) =>
        this.#isFree(slug),
      )
      if (free !== undefined) return this.#take(free)
    }
  }

  /** Takes the alias; false if it names another model already. */
  takeAlias(alias: string): boolean {
    if (!this.#isFree(alias)) return false
    this.#take(alias)
    return true
  }

  #isFree(name: string): boolean {
    return !this.#used.has(name) && !builtInSlugs.has(name)
  }

  #take(name: string): string {
    this.#used.add(name)
    return name
  }
}

/** True for `author/model`. */
export function isSlug(name: string): boolean {
  return /^[^/\s]+\/\S+$/.test(name)
}
