import { conversationApis } from '../../domain/generation/parameters.ts'
import { suggestion } from '../../lib/near-match.ts'
import type { ConnectModel, ConnectTool } from './tool.ts'
import { fieldsOf, listOf, numberOf, parseJson, textOf } from '../../lib/json/json.ts'
import { directGet } from '../running-gateway.ts'

/** An enabled model, with what the choice of a default needs. */
export type ConnectCandidate = ConnectModel & {
  /** Whether it generates text in a conversation. */
  readonly conversational: boolean
  /** Unix seconds. */
  readonly created: number
  /** The day on which its provider ends it, such as 2026-12-31; absent: none is announced. */
  readonly shutdownDate?: string | undefined
  /** USD per million tokens; absent: unknown. */
  readonly outputPrice?: number
}

/** The models for the settings of a tool, and a sentence if the chosen one is not known. */
type ModelChoice = {
  readonly model: ConnectModel
  readonly models: readonly ConnectModel[]
  readonly note?: string
}

/** The model that the user asks for; without a slug, any that fits. */
type ModelRequest = {
  readonly slug?: string | undefined
  /** Milliseconds. */
  readonly now: number
}

/** A menu has no more models than this. */
const maxModels = 20

/** A model that ends within this time is no default, and the last in a menu. */
const minRemainingMs = 90 * 24 * 60 * 60 * 1000

/** The model that every gateway without a provider has. */
const builtInSlug = 'weir/echo'

/** Chooses the model with this slug, or a default for the tool, and others for a menu, the newest first. */
export function chooseModel(
  tool: Pick<ConnectTool, 'preferredModel'>,
  enabled: readonly ConnectCandidate[],
  { slug, now }: ModelRequest,
): ModelChoice {
  // The list of a provider may contain anything, and these names are printed on a terminal.
  const printable = enabled.filter(({ slug, displayName }) => isPrintable(slug + displayName))
  const candidates = printable.toSorted((a, b) => b.created - a.created)
  const { ending = [], lasting = [] } = Object.groupBy(
    candidates.filter(({ conversational }) => conversational),
    (candidate) => (endsSoon(candidate, now) ? 'ending' : 'lasting'),
  )
  const chosen =
    slug === undefined
      ? defaultModel(tool, lasting.length === 0 ? ending : lasting)
      : findModel(candidates, slug)
  const model = chosen ?? unknownModel(slug ?? builtInSlug)
  const others = [...lasting, ...ending].filter(({ slug }) => slug !== model.slug)
  const note = chosen ? undefined : unknownNote(model.slug, candidates)
  return { model, models: [model, ...others.slice(0, maxModels - 1)], ...(note !== undefined && { note }) }
}

function endsSoon({ shutdownDate }: ConnectCandidate, now: number): boolean {
  return shutdownDate !== undefined && Date.parse(shutdownDate) < now + minRemainingMs
}

/** Whether the text has no control characters, which a terminal would interpret. */
export function isPrintable(text: string): boolean {
  return !/\p{Cc}/u.test(text)
}

function findModel(candidates: readonly ConnectCandidate[], slug: string): ConnectCandidate | undefined {
  return candidates.find((candidate) => candidate.slug === slug)
}

/** Whether one of the APIs of a model is for conversations; a list that is empty says nothing. */
function servesConversations(apis: readonly unknown[]): boolean {
  return apis.length === 0 || conversationApis.some((api) => apis.includes(api))
}

/** Returns the newest model that the tool prefers, else the built-in one, else the cheapest one with tools. */
function defaultModel(
  { preferredModel }: Pick<ConnectTool, 'preferredModel'>,
  newestFirst: readonly ConnectCandidate[],
): ConnectCandidate | undefined {
  const preferred = newestFirst.find(({ slug }) => preferredModel?.test(slug))
  const withTools = newestFirst.filter(({ tools }) => tools)
  return preferred ?? findModel(newestFirst, builtInSlug) ?? cheapest(withTools) ?? cheapest(newestFirst)
}

function cheapest(candidates: readonly ConnectCandidate[]): ConnectCandidate | undefined {
  const price = ({ outputPrice }: ConnectCandidate) => outputPrice ?? Number.MAX_VALUE
  return candidates.toSorted((a, b) => price(a) - price(b))[0]
}

function unknownModel(slug: string): ConnectModel {
  return { slug, displayName: slug, tools: true, images: false, schemas: true }
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
  const parameters = listOf(model.supported_parameters)
  const generatesText = listOf(model.output_modalities).includes('text')
  return [
    {
      slug,
      displayName: textOf(model.display_name) ?? slug,
      contextWindow: numberOf(model.context_window),
      maxOutputTokens: numberOf(model.max_output_tokens),
      tools: parameters.includes('tools'),
      images: listOf(model.input_modalities).includes('image'),
      schemas: parameters.includes('response_format'),
      conversational: generatesText && servesConversations(listOf(model.supported_apis)),
      created: numberOf(model.created) ?? 0,
      shutdownDate: textOf(model.shutdown_date),
      outputPrice: numberOf(fieldsOf(model.pricing).output),
    },
  ]
}
