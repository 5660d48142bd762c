// Draws the charts whose figures stand in the element "charts", in the colours of the page, and
// again when the system changes between light and dark.
(function () {
  "use strict";
  var charts = JSON.parse(document.getElementById("charts").textContent) || [];
  var drawn = [];

  function color(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  function format(value, unit) {
    var text = Math.abs(value) >= 100 ? Math.round(value).toLocaleString("en-US") : String(value);
    return unit === "frames" ? text + " frames" : text + " " + unit;
  }

  // Long names are broken into lines so that a phone has room for the bars.
  function label(text, narrow) {
    if (!narrow || text.length <= 18) return text;
    var lines = [""];
    text.split(/ |(?<=-)/).forEach(function (word) {
      var last = lines.length - 1;
      var glue = lines[last] === "" || lines[last].endsWith("-") ? "" : " ";
      if ((lines[last] + glue + word).length > 18 && lines[last] !== "") lines.push(word);
      else lines[last] += glue + word;
    });
    return lines;
  }

  function axis(chart, values) {
    return {
      type: values && chart.log ? "logarithmic" : values ? "linear" : "category",
      grid: { color: color("--line"), display: values },
      border: { color: color("--line") },
      ticks: {
        color: color("--soft"),
        autoSkip: values,
        maxTicksLimit: values ? 7 : undefined,
        maxRotation: values ? 0 : 60,
        callback: values ? function (value) {
          if (chart.log && !/^1(\.|0*$)/.test(String(value)) && value !== 0.1) return "";
          return value.toLocaleString("en-US");
        } : undefined
      },
      title: values ? { display: true, text: chart.unit, color: color("--soft") } : undefined
    };
  }

  function draw(chart) {
    var box = document.querySelector('[data-chart="' + chart.id + '"]');
    if (!box) return;
    var across = chart.kind === "barh";
    var narrow = box.clientWidth < 560;
    var labels = chart.labels.map(function (text) { return label(text, narrow && across); });
    if (across) {
      box.style.height = Math.max(120, 64 + labels.length * (narrow ? 44 : 30)) + "px";
    }
    var fills = [color("--first"), color("--second")];
    drawn.push(new Chart(box.querySelector("canvas"), {
      type: "bar",
      data: {
        labels: labels,
        datasets: chart.series.map(function (series, i) {
          return { label: series.name, data: series.values, backgroundColor: fills[i % 2],
            borderRadius: 2, minBarLength: 2, maxBarThickness: 28 };
        })
      },
      options: {
        animation: false, responsive: true, maintainAspectRatio: false,
        indexAxis: across ? "y" : "x",
        scales: across ? { x: axis(chart, true), y: axis(chart, false) }
          : { x: axis(chart, false), y: axis(chart, true) },
        plugins: {
          legend: { display: chart.series.length > 1, labels: { color: color("--text") } },
          tooltip: { callbacks: {
            title: function (items) { return chart.labels[items[0].dataIndex]; },
            label: function (item) {
              return item.dataset.label + ": " + format(item.raw, chart.unit);
            }
          } }
        }
      }
    }));
  }

  function drawAll() {
    drawn.splice(0).forEach(function (chart) { chart.destroy(); });
    charts.forEach(draw);
    document.documentElement.dataset.charts = String(drawn.length);
  }

  drawAll();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
}());
