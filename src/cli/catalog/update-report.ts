import { loggable } from '../../lib/text.ts'
import { section, table } from '../output.ts'
import type { FactDifference, ModelChange, PriceDifference } from './compare-catalogs.ts'
import type { SkippedEntry } from './read-catalog.ts'

/** The result of `weir models update`. */
export type UpdateReport = {
  readonly source: string
  /** Whose form the source has. */
  readonly form: string
  readonly dry_run: boolean
  /** The file that was written; null if nothing was. */
  readonly file: string | null
  readonly changes: readonly ReportedChange[]
  /** The models of which the source knows nothing although it lists their provider; they stay. */
  readonly missing: readonly string[]
  readonly skipped: readonly SkippedEntry[]
}

/** `applied` is also true in a dry run of what would be applied: of the whole change, and of each part. */
export type ReportedChange = Pick<ModelChange, 'slug' | 'kind' | 'held_back'> &
  Applied & {
    readonly prices: readonly (PriceDifference & Applied)[]
    readonly facts: readonly (FactDifference & Applied)[]
  }

type Applied = { readonly applied: boolean }

/** Formats the report for the terminal. */
export function reportText(report: UpdateReport, hint: string): string {
  const { changes, missing, skipped } = report
  const ofKind = (kind: ModelChange['kind']) => changes.filter((change) => change.kind === kind)
  const held = changes.filter(({ held_back, applied }) => held_back !== null && !applied)
  const changed = ofKind('changed').flatMap(differenceRows)
  return [
    `${report.source} is a list of models in the form of ${report.form}.`,
    ...section(
      'Changed (prices in USD per million tokens)',
      changed.length > 0 ? [differenceTable(changed)] : [],
    ),
    ...section('Added', ofKind('added').map(addedLine)),
    ...section(
      'Ended',
      ofKind('ended').map(({ slug }) => slug),
    ),
    ...section(
      'Held back',
      held.map(({ slug, held_back }) => `${slug}: ${held_back}`),
    ),
    ...section('Kept, although not in the list', shortList(missing)),
    ...section('Skipped entries', shortList(skipped.map(skippedLine))),
    '',
    resultText(report, held.length),
    ...(report.file === null ? [] : [hint]),
  ].join('\n')
}

function resultText({ changes, dry_run, file }: UpdateReport, held: number): string {
  if (changes.length === 0) return 'The catalog has the same models and prices: nothing changes.'
  const accept =
    held === 0 ? '' : ` To apply what is held back, use --accept all, or --accept with the slugs.`
  if (dry_run) return `Nothing was changed, because of --dry-run.${accept}`
  return `${file === null ? 'Nothing was changed.' : `The changes are in ${file}.`}${accept}`
}

const maxLines = 20

function shortList(lines: readonly string[]): string[] {
  const more = lines.length - maxLines
  return [...lines.slice(0, maxLines), ...(more > 0 ? [`and ${more} more: see --json`] : [])]
}

function skippedLine({ entry, reason }: SkippedEntry): string {
  return `${loggable(entry, 200)}: ${loggable(reason, 200)}`
}

type DifferenceRow = {
  readonly slug: string
  readonly name: string
  readonly from: number | string | null
  readonly to: number | string | null
}

function differenceRows({ slug, prices, facts }: ReportedChange): DifferenceRow[] {
  const priceRows = prices.map((difference) => ({ ...difference, slug, name: priceName(difference) }))
  return [...priceRows, ...facts.map(({ fact, from, to }) => ({ slug, name: fact, from, to }))]
}

function priceName({ price, above, effective_from }: PriceDifference): string {
  const size = above === 0 ? '' : ` above ${above} tokens`
  return `${price}${size}${effective_from === null ? '' : ` from ${effective_from}`}`
}

function differenceTable(rows: readonly DifferenceRow[]): string {
  return table(rows, [
    { title: 'MODEL', value: ({ slug }) => slug },
    { title: '', value: ({ name }) => name },
    { title: 'NOW', value: ({ from }) => valueText(from), align: 'right' },
    { title: 'NEW', value: ({ to }) => valueText(to), align: 'right' },
  ])
}

function addedLine({ slug, prices }: ReportedChange): string {
  const today = prices.filter(({ above, effective_from }) => above === 0 && effective_from === null)
  return [slug, ...today.map(({ price, to }) => `${price} ${valueText(to)}`)].join('  ')
}

function valueText(value: number | string | null): string {
  return typeof value === 'number'
    ? value.toLocaleString('en-US', { maximumFractionDigits: 9 })
    : (value ?? '-')
}
