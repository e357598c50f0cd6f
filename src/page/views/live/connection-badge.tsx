import { Badge } from '../../components/badge.tsx'
import type { LiveConnection } from './follow.ts'

/** Says whether the list is live, and if not, why. */
export function ConnectionBadge(props: { readonly connection: LiveConnection; readonly paused: boolean }) {
  const { tone, label } = describe(props.connection, props.paused)
  return (
    <span role="status">
      <Badge tone={tone}>{label}</Badge>
    </span>
  )
}

type Description = {
  readonly tone: 'good' | 'warning' | 'bad' | 'neutral'
  readonly label: string
}

function describe(connection: LiveConnection, paused: boolean): Description {
  switch (connection.type) {
    case 'connecting':
      return { tone: 'neutral', label: 'connecting' }
    case 'waiting':
      return { tone: 'warning', label: `disconnected, next attempt in ${connection.seconds} s` }
    case 'failed':
      return { tone: 'bad', label: 'disconnected' }
    case 'connected':
      return paused ? { tone: 'warning', label: 'paused' } : { tone: 'good', label: 'live' }
  }
}
