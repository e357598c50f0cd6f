import { responses } from '../../src/providers/wires/responses/wire.ts'
import { holdWireContract } from './contract.ts'

holdWireContract('responses', responses)
