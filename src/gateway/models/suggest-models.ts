import { nearMatches } from '../../lib/near-match.ts'
import type { Model, Models } from './model.ts'
import { behindAuthor, lastPart } from './model-index.ts'

/** How many models are suggested at most. */
const maxSuggested = 3
/** Characters: no model has so long a name. */
const maxLength = 100
/** Of more enabled models only the first are compared letter by letter. */
const maxCompared = 2000

/**
 * The slugs of the enabled models that a name which finds none may have meant: those that differ only in the author or in
 * letter case, then those that begin with it, those that it misspells, and those behind which it goes on. Each step is
 * linear in the number of models.
 */
export function nearModels({ enabled }: Pick<Models, 'enabled'>, name: string): readonly string[] {
  const asked = name.trim().toLowerCase()
  if (asked === '' || name.length > maxLength) return []
  const bare = lastPart({ slug: asked })
  const found = new Set<string>()
  const steps = [
    () => matching(enabled, (known) => known === asked || known === bare),
    // `llama3.2` for `llama3.2:latest`.
    () => matching(enabled, (known) => bare.length >= minBeginning && known.startsWith(bare)),
    () => misspelt(enabled, asked, bare),
    // `gpt-4o-2024-08-06` for `gpt-4o`.
    () => matching(enabled, (known) => goesOnBehind(bare, known) || goesOnBehind(asked, known)),
  ]
  for (const step of steps) {
    for (const slug of step()) found.add(slug)
    if (found.size > 0) break
  }
  return [...found].slice(0, maxSuggested)
}

/** Characters: a shorter beginning is that of too many. */
const minBeginning = 3

/** The slugs of the models of which a name matches, the shortest first. */
function matching(models: readonly Model[], matches: (name: string) => boolean): readonly string[] {
  const slugs = models.filter((model) => namesOf(model).some(matches)).map(({ slug }) => slug)
  return slugs.toSorted((a, b) => a.length - b.length)
}

/** The asked name has a date, a tag or the like behind the known one. */
function goesOnBehind(asked: string, known: string): boolean {
  return known.length >= minBeginning && asked.startsWith(known) && /[-:@.]/.test(asked.charAt(known.length))
}

function misspelt(models: readonly Model[], asked: string, bare: string): readonly string[] {
  const compared = models.slice(0, maxCompared)
  const bySlug = compared.map(({ slug }) => [slug, slug] as const)
  const byName = compared.flatMap((model) =>
    [lastPart(model), ...model.aliases].map((name) => [name, model.slug] as const),
  )
  return [...(asked === bare ? [] : nearSlugs(asked, bySlug)), ...nearSlugs(bare, byName)]
}

/** The slugs that go with the nearest names. */
function nearSlugs(
  word: string,
  named: readonly (readonly [name: string, slug: string])[],
): readonly string[] {
  const slugs = new Map(named)
  return nearMatches(word, slugs.keys(), maxSuggested).flatMap((name) => slugs.get(name) ?? [])
}

function namesOf(model: Model): readonly string[] {
  return [model.slug, behindAuthor(model), lastPart(model), ...model.aliases].map((name) =>
    name.toLowerCase(),
  )
}
