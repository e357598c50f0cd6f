import type { Provider } from '../api/objects.ts'
import { useChange } from '../api/resource.ts'
import { ChangeButton } from '../change-button.tsx'
import { ForeignLink, IdLink, Time } from '../components/facts.tsx'
import { useToast } from '../components/toast.tsx'
import { Failure } from '../components/view.tsx'
import { routeHash } from '../route.ts'
import { useAdminApi } from '../session.tsx'

/** Why a provider fails, the remedy, and a button that tests it now. */
export function ProviderProblem(props: { readonly provider: Provider; readonly onTested: () => void }) {
  const { provider, onTested } = props
  const { problem, id } = provider
  if (problem === null) return null
  const { source, at, request } = problem
  return (
    <section class="failure" aria-label={`Problem of ${id}`}>
      <p class="failure-message">
        <ForeignLink text={id} href={routeHash('providers', [id])} /> is failing. {problem.message}
      </p>
      <p>{problem.remedy}</p>
      <p class="quiet">
        {source === 'check' ? 'Its list of models was requested' : 'The last request failed'} <Time at={at} />
        {request !== null && (
          <>
            {' '}
            · request <IdLink id={request} href={routeHash('requests', [request])} />
          </>
        )}
      </p>
      <TestButton provider={provider} onTested={onTested} />
    </section>
  )
}

/** Requests the list of models of a provider, and says whether it came. Nothing for a provider without one. */
export function TestButton(props: { readonly provider: Provider; readonly onTested: () => void }) {
  const { provider, onTested } = props
  const admin = useAdminApi()
  const toast = useToast()
  const { busy, failure, run } = useChange()
  if (!provider.testable) return null
  const test = async () => {
    const path = `/admin/providers/${encodeURIComponent(provider.id)}/test`
    const { health, problem } = await admin.send<Provider>('POST', path)
    toast(
      health === 'ok' ? `${provider.id} responds.` : `${provider.id} is failing. ${problem?.message ?? ''}`,
    )
    onTested()
  }
  return (
    <>
      <ChangeButton
        label={busy ? 'Testing …' : 'Test now'}
        icon="retry"
        disabled={busy}
        onClick={() => run(test)}
      />
      {failure && <Failure failure={failure} />}
    </>
  )
}
