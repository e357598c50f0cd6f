import { suggestion } from '../../lib/near-match.ts'
import type { ConnectModel, ConnectTool } from './tool.ts'
import { fieldsOf, listOf, numberOf, parseJson, textOf } from '../../lib/json/json.ts'
import { directGet } from '../running-gateway.ts'

/** An enabled model, with what the choice of a default needs. */
export type ConnectCandidate = ConnectModel & {
  /** Whether it generates text. */
  readonly text: boolean
  /** Unix seconds. */
  readonly created: number
  /** USD per million tokens; absent: unknown. */
  readonly outputPrice?: number
}

/** The models for the settings of a tool, and a sentence if the chosen one is not known. */
type ModelChoice = {
  readonly model: ConnectModel
  readonly models: readonly ConnectModel[]
  readonly note?: string
}

/** A menu has no more models than this. */
const maxModels = 20

/** The model that every gateway without a provider has. */
const builtInSlug = 'weir/echo'

/** Chooses the model with this slug, or a default for the tool, and others for a menu. */
export function chooseModel(
  tool: Pick<ConnectTool, 'preferredModel'>,
  enabled: readonly ConnectCandidate[],
  slug?: string,
): ModelChoice {
  // The list of a provider may contain anything, and these names are printed on a terminal.
  const candidates = enabled.filter(({ slug, displayName }) => isPrintable(slug + displayName))
  const chosen = slug === undefined ? defaultModel(tool, candidates) : findModel(candidates, slug)
  const model = chosen ?? unknownModel(slug ?? builtInSlug)
  const others = candidates.filter(({ slug, text }) => text && slug !== model.slug)
  const note = chosen ? undefined : unknownNote(model.slug, candidates)
  return { model, models: [model, ...others.slice(0, maxModels - 1)], ...(note !== undefined && { note }) }
}

/** Whether the text has no control characters, which a terminal would interpret. */
export function isPrintable(text: string): boolean {
  return !/\p{Cc}/u.test(text)
}

function findModel(candidates: readonly ConnectCandidate[], slug: string): ConnectCandidate | undefined {
  return candidates.find((candidate) => candidate.slug === slug)
}

/** Returns the newest model that the tool prefers, else the built-in one, else the cheapest one with tools. */
function defaultModel(
  { preferredModel }: Pick<ConnectTool, 'preferredModel'>,
  candidates: readonly ConnectCandidate[],
): ConnectCandidate | undefined {
  const texts = candidates.filter(({ text }) => text)
  const preferred = texts.filter(({ slug }) => preferredModel?.test(slug))
  const newest = preferred.toSorted((a, b) => b.created - a.created)[0]
  const withTools = texts.filter(({ tools }) => tools)
  return newest ?? findModel(texts, builtInSlug) ?? cheapest(withTools) ?? cheapest(texts)
}

function cheapest(candidates: readonly ConnectCandidate[]): ConnectCandidate | undefined {
  const price = ({ outputPrice }: ConnectCandidate) => outputPrice ?? Number.MAX_VALUE
  return candidates.toSorted((a, b) => price(a) - price(b))[0]
}

function unknownModel(slug: string): ConnectModel {
  return { slug, displayName: slug, tools: true, images: false }
}

function unknownNote(slug: string, candidates: readonly ConnectCandidate[]): string {
  const slugs = candidates.map(({ slug }) => slug)
  const guess = suggestion(slug, slugs, 'weir models lists them.')
  return `The model ${slug} is not one of the enabled models. ${guess}`
}

/** Milliseconds. */
const listTimeoutMs = 5000
/** Bytes. */
const maxListBytes = 8 * 1024 * 1024

/** Returns the models that a running gateway serves to this key; undefined if it does not list them. */
export async function servedModels(
  origin: string,
  key: string,
): Promise<readonly ConnectCandidate[] | undefined> {
  try {
    const { status, text } = await directGet(`${origin}/v1/models`, {
      headers: { authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(listTimeoutMs),
      maxBytes: maxListBytes,
      verifyCertificate: true,
    })
    if (status !== 200) return undefined
    return listOf(fieldsOf(parseJson(text)).data).flatMap(listedCandidate)
  } catch {
    return undefined
  }
}

/**
 * Returns a model of `GET /v1/models` as a candidate; none without a slug. Another version of Weir may list fields that this
 * one does not know, and the reverse.
 */
export function listedCandidate(value: unknown): ConnectCandidate[] {
  const model = fieldsOf(value)
  const slug = textOf(model.id)
  if (slug === undefined) return []
  return [
    {
      slug,
      displayName: textOf(model.display_name) ?? slug,
      contextWindow: numberOf(model.context_window),
      maxOutputTokens: numberOf(model.max_output_tokens),
      tools: listOf(model.supported_parameters).includes('tools'),
      images: listOf(model.input_modalities).includes('image'),
      text: listOf(model.output_modalities).includes('text'),
      created: numberOf(model.created) ?? 0,
      outputPrice: numberOf(fieldsOf(model.pricing).output),
    },
  ]
}
