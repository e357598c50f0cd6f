import { useState } from 'preact/hooks'
import type { Limits } from '../../api/objects.ts'
import { ChangeButton } from '../../change-button.tsx'
import { nanosOf } from '../../components/budget.ts'
import { BudgetFigures, BudgetLine } from '../../components/budget-bar.tsx'
import { type DialogHandlers, FormDialog } from '../../components/dialog.tsx'
import { Badge, Badges, Facts, None, Time } from '../../components/facts.tsx'
import { exactUsd, formatCount, visibleText } from '../../components/format.ts'
import { type Column, column } from '../../components/table-columns.tsx'
import { useToast } from '../../components/toast.tsx'
import { Section } from '../../components/view.tsx'
import { type RateLimit, rateLimitLabels, rateLimits } from './limits.ts'

type SectionProps = {
  readonly of: Limits & { readonly name: string }
  /** Its path in the admin API. */
  readonly path: string
  /** The meaning of no rate limit. */
  readonly empty: string
  /** Called after a change. */
  readonly onChanged: () => void
}

/** The limits of an organization, a project or a key, and what is left of its budget. */
export function LimitsSection({ of, path, empty, onChanged }: SectionProps) {
  const { budget, budget_period, models } = of
  const [releasing, setReleasing] = useState(false)
  const held = budget !== null && nanosOf(budget.held_usd) > 0n
  const rateLimit = (field: RateLimit) => {
    const limit = of[field]
    return limit === null ? <None text={empty} /> : formatCount(limit)
  }
  return (
    <Section
      title="Limits"
      controls={held && <ChangeButton label="Release what is held" onClick={() => setReleasing(true)} />}
    >
      {budget === null ? (
        <p class="quiet">No budget.</p>
      ) : (
        <BudgetFigures label="Budget" budget={budget} period={budget_period} />
      )}
      <Facts
        facts={[
          ...rateLimits.map((field) => [rateLimitLabels[field], rateLimit(field)] as const),
          ['Models', <ModelList models={models} />],
        ]}
      />
      {releasing && budget && (
        <ReleaseHeld
          name={of.name}
          path={path}
          usd={budget.held_usd}
          onClose={() => setReleasing(false)}
          onDone={onChanged}
        />
      )}
    </Section>
  )
}

function ModelList({ models }: Pick<Limits, 'models'>) {
  if (models === null) return <None text="all" />
  if (models.length === 0) return <Badge tone="warning">none</Badge>
  return <Badges texts={models} />
}

/** Releases the held part of a budget. */
function ReleaseHeld(
  props: DialogHandlers & { readonly name: string; readonly path: string; readonly usd: string },
) {
  const { name, path, usd, onClose, onDone } = props
  const toast = useToast()
  return (
    <FormDialog
      title={`Release what is held of the budget of ${visibleText(name)}`}
      action="Release"
      change={{ method: 'POST', path: `${path}/release_held` }}
      onClose={onClose}
      onDone={(released) => {
        toast(`${exactUsd(usd)} of the budget is released.`)
        onDone(released)
      }}
    >
      <p>
        Requests of servers that were killed may have cost another{' '}
        <strong class="number">{exactUsd(usd)}</strong> at their providers. Release it once the bills of the
        providers show that they did not.
      </p>
    </FormDialog>
  )
}

type Limited = Limits & { readonly name: string }

/** The columns of a budget: how much of it is used, and when it is reset. */
export function budgetColumns<Row extends Limited>(): readonly Column<Row>[] {
  return [
    column('budget', 'Budget', ({ name, budget }) => <BudgetCell name={name} budget={budget} />, {
      sortValue: ({ budget }) => budget && nanosOf(budget.left_usd),
    }),
    column('reset', 'Reset', ({ budget }) => <Reset at={budget?.resets_at} />, {
      minor: true,
      sortValue: ({ budget }) => budget?.resets_at ?? null,
    }),
  ]
}

function BudgetCell({ name, budget }: Pick<Limited, 'name' | 'budget'>) {
  if (budget === null) return <None />
  return <BudgetLine label={`Budget of ${visibleText(name)}`} budget={budget} />
}

function Reset({ at }: { readonly at: string | null | undefined }) {
  if (at === undefined) return null
  return at === null ? <None text="never" /> : <Time at={at} />
}

/** The column of the allowed models, in short. */
export function modelsColumn<Row extends Limited>(): Column<Row> {
  return column('models', 'Models', ({ models }) => <ModelsInShort models={models} />, {
    minor: true,
    sortValue: ({ models }) => models?.join(' ') ?? null,
  })
}

function ModelsInShort({ models }: Pick<Limits, 'models'>) {
  if (models === null) return <None text="all" />
  const [first, ...others] = models
  if (first === undefined) return <Badge tone="warning">none</Badge>
  return (
    <span title={visibleText(models.join(', '))}>
      <bdi>{visibleText(first)}</bdi>
      {others.length > 0 && <span class="quiet"> and {others.length} more</span>}
    </span>
  )
}
