import { useState } from 'preact/hooks'
import { parseUsd } from '../../../lib/usd.ts'
import { BudgetFigures } from '../../components/budget-bar.tsx'
import { ChangeButton } from '../../change-button.tsx'
import { FormDialog } from '../../components/dialog.tsx'
import { Badge, Badges, Facts } from '../../components/facts.tsx'
import { exactUsd, formatCount, visibleText } from '../../components/format.ts'
import { useToast } from '../../components/toast.tsx'
import { useAdminApi } from '../../session.tsx'
import { type Limits, type RateLimit, rateLimitLabels, rateLimits } from './limits.ts'

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
  const held = budget !== null && (parseUsd(budget.held_usd) ?? 0n) > 0n
  const rateLimit = (field: RateLimit) => {
    const limit = of[field]
    return limit === null ? <span class="quiet">{empty}</span> : formatCount(limit)
  }
  return (
    <section class="stack" aria-label="Limits">
      <div class="section-header">
        <h2>Limits</h2>
        {held && <ChangeButton label="Release what is held" onClick={() => setReleasing(true)} />}
      </div>
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
          onReleased={onChanged}
        />
      )}
    </section>
  )
}

function ModelList({ models }: Pick<Limits, 'models'>) {
  if (models === null) return <span class="quiet">all</span>
  if (models.length === 0) return <Badge tone="warning">none</Badge>
  return <Badges texts={models} />
}

/** Releases the held part of a budget. */
function ReleaseHeld(props: {
  readonly name: string
  readonly path: string
  readonly usd: string
  readonly onClose: () => void
  readonly onReleased: () => void
}) {
  const { name, path, usd, onClose, onReleased } = props
  const admin = useAdminApi()
  const toast = useToast()
  const release = async () => {
    await admin.send('POST', `${path}/release_held`)
    toast(`${exactUsd(usd)} of the budget is released.`)
    onClose()
    onReleased()
  }
  return (
    <FormDialog
      title={`Release what is held of the budget of ${visibleText(name)}`}
      action="Release"
      onClose={onClose}
      onSubmit={release}
    >
      <p>
        Requests of servers that were killed may have cost another{' '}
        <strong class="number">{exactUsd(usd)}</strong> at their providers. Release it once the bills of the
        providers show that they did not.
      </p>
    </FormDialog>
  )
}
