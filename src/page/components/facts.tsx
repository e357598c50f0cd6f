import type { ComponentChildren } from 'preact'
import { formatRoundedUsd, parseUsd } from '../../lib/usd.ts'
import { decimalText, formatTime, type TimeFormat, toDate, visibleText } from './format.ts'

/** The label of a fact, and its value; false in the place of one that is not shown. */
export type LabelledFact = readonly [label: string, value: ComponentChildren] | false

/** A row of facts with their labels. */
export function Facts({ facts }: { readonly facts: readonly LabelledFact[] }) {
  return (
    <dl class="facts">
      {facts.map(
        (fact) =>
          fact && (
            <div key={fact[0]}>
              <dt>{fact[0]}</dt>
              <dd>{fact[1]}</dd>
            </div>
          ),
      )}
    </dl>
  )
}

/** A large figure with its label, in a `dl` of the class `figures`. */
export function Figure(props: {
  readonly label: string
  readonly note?: string
  readonly children: ComponentChildren
}) {
  return (
    <div>
      <dt>{props.label}</dt>
      <dd>
        {props.children} {props.note && <small>{props.note}</small>}
      </dd>
    </div>
  )
}

/** How good or bad a fact is. */
export type Tone = 'neutral' | 'good' | 'warning' | 'bad' | 'accent'

/** A short fact; its tone never says more than its text. */
export function Badge(props: { readonly tone?: Tone | undefined; readonly children: ComponentChildren }) {
  return <span class={`badge ${props.tone ?? 'neutral'}`}>{props.children}</span>
}

/** Short texts from outside, such as tags, as badges. */
export function Badges({ texts }: { readonly texts: readonly string[] }) {
  if (texts.length === 0) return <None />
  return (
    <span class="badges wrap">
      {texts.map((text) => (
        <Badge key={text}>
          <Foreign text={text} />
        </Badge>
      ))}
    </span>
  )
}

/** A time in the zone of the reader. */
export function Time({ at, format }: { readonly at: number | string; readonly format?: TimeFormat }) {
  const date = toDate(at)
  if (Number.isNaN(date.getTime())) return <span>–</span>
  return (
    <time dateTime={date.toISOString()} title={fullFormat.format(date)} class="number">
      {formatTime(at, format)}
    </time>
  )
}

const fullFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' })

/** An amount in USD, a decimal text or a number of JSON. For the eye, it is rounded to `decimals`, and nothing is $0.00. */
export function Money({ usd, decimals = 4 }: { readonly usd: string | number; readonly decimals?: number }) {
  const exact = decimalText(usd)
  const nanos = parseUsd(exact)
  if (nanos === undefined) return <span class="number">–</span>
  return (
    <span class="number" title={`$${exact}`}>
      {formatRoundedUsd(nanos, nanos === 0n ? 2 : decimals).replace(/^([<>]?-?)/, '$1$')}
    </span>
  )
}

/** A text from outside, such as the name of a model: its direction and its control characters change nothing around it. */
export function Foreign({ text }: { readonly text: string }) {
  return <bdi>{visibleText(text)}</bdi>
}

/** A text from outside that leads to a place of the page. */
export function ForeignLink({ text, href }: { readonly text: string; readonly href: string }) {
  return (
    <a href={href}>
      <Foreign text={text} />
    </a>
  )
}

/** An ID that leads to what it names. */
export function IdLink({ id, href }: { readonly id: string; readonly href: string }) {
  return (
    <a href={href}>
      <code>{visibleText(id)}</code>
    </a>
  )
}

/** A word in the place of a value that there is not. */
export function None({ text = 'none' }: { readonly text?: string }) {
  return <span class="quiet">{text}</span>
}
