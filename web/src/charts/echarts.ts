// The parts of ECharts that the report uses, drawn as SVG so that they print sharply.

import { BarChart, CustomChart, LineChart, RadarChart, ScatterChart } from "echarts/charts";
import type {
  BarSeriesOption,
  CustomSeriesOption,
  LineSeriesOption,
  RadarSeriesOption,
  ScatterSeriesOption,
} from "echarts/charts";
import {
  GridComponent,
  MarkLineComponent,
  RadarComponent,
  TitleComponent,
  TooltipComponent,
} from "echarts/components";
import type {
  GridComponentOption,
  RadarComponentOption,
  TitleComponentOption,
  TooltipComponentOption,
} from "echarts/components";
import { type ComposeOption, init, use } from "echarts/core";
import { LabelLayout } from "echarts/features";
import { SVGRenderer } from "echarts/renderers";

use([
  BarChart,
  CustomChart,
  LineChart,
  RadarChart,
  ScatterChart,
  GridComponent,
  LabelLayout,
  MarkLineComponent,
  RadarComponent,
  TitleComponent,
  TooltipComponent,
  SVGRenderer,
]);

export type Series =
  | BarSeriesOption
  | CustomSeriesOption
  | LineSeriesOption
  | RadarSeriesOption
  | ScatterSeriesOption;

export type Option = ComposeOption<
  | Series
  | GridComponentOption
  | RadarComponentOption
  | TitleComponentOption
  | TooltipComponentOption
>;

export type {
  BarSeriesOption,
  CustomSeriesOption,
  LineSeriesOption,
  RadarSeriesOption,
  ScatterSeriesOption,
};
export { init };
